// Failed tool results, told by their first and last words. Contents of files and pages may speak of errors too, so words
// count only where programs put them: at the very beginning, in fields of JSON, or as an exit code.

const HEAD_CHARS = 200;
const TAIL_CHARS = 120;

export function isFailure(result: string): boolean {
  const head = result.length > HEAD_CHARS ? result.slice(0, HEAD_CHARS) : result;
  if (BEGINNING.test(head)) return true;
  if (head.includes('"') && FIELD.test(head)) return true;
  const ends = result.length > HEAD_CHARS ? `${head}\n${result.slice(-TAIL_CHARS)}` : head;
  return EXIT_CODE.test(ends);
}

/** "Error: …", "Traceback (most recent call last)", "bash: x: command not found", but not "Error handling in Go". */
const BEGINNING = new RegExp(
  [
    "^\\s*(?:<(?:tool_use_)?error>|\\[?(?:tool |fatal |runtime |internal )?(?:error|failure|exception)\\]?\\s*[:!(—]|(?:fatal|panic|abort(?:ed)?):)",
    "^\\s*(?:[\\w.]*(?:Error|Exception)\\b(?!\\s+(?:handling|codes?|messages?|pages?|logs?)\\b)\\s*[:(\\n]|Traceback \\(most recent)",
    "^\\s*(?:error (?:while|when|executing|running|reading|opening|calling|occurred|\\d)|failed to |could not |cannot |can't |unable to |permission denied|access denied|no such file|file not found|command failed|command not found|invalid (?:argument|input|request)|timed out|timeout)",
    "^\\s*(?:the )?(?:string|text|old_string|pattern|file|path|match) (?:to replace )?(?:was )?(?:not found|does not exist|was not found)",
    "^\\s*[\\w./-]{1,40}: (?:[^\\n]{1,80}: )?(?:command not found|no such file|permission denied|not found|cannot )",
  ].join("|"),
  "i",
);

/** `"error": "…"`, `"success": false`, but not `"error": null` or `"errors": []`. */
const FIELD =
  /"(?:error|errors|exception)"\s*:\s*(?!null|""|false|0\b|\[\s*\]|\{\s*\})\S|"(?:success|ok|succeeded)"\s*:\s*false|"is_?error"\s*:\s*true|"status"\s*:\s*"(?:error|failed|failure)"|"(?:exit_?code|return_?code|exit_?status)"\s*:\s*[1-9]/i;

const EXIT_CODE =
  /\b(?:exit(?:ed)?(?: with)?(?: code| status)|return ?code|exit ?code)\s*[:=]?\s*[1-9]\d{0,2}\b|\bcommand failed with\b/i;
