// Words and flags of a command line: `--name value`, `--name=value`, and `--name` alone for yes. After `--` there are
// words only. `parseArgs` of Node reads the documented `credits adjust -2.50` as options named 2, . and 5, and drops the
// value of a misspelled flag, so its name could not be corrected.

/** By name without dashes; a flag without a value has the text "true". */
export type Flags = Readonly<Record<string, string | undefined>>;

export interface Arguments {
  /** The first word; when there is none, `serve`, or `help` where that is asked for. */
  readonly command: string;
  readonly words: readonly string[];
  readonly flags: Flags;
}

/** Flags that never take the next word as their value. A new switch of any command belongs here. */
const SWITCHES: ReadonlySet<string> = new Set([
  "help",
  "version",
  "json",
  "yes",
  "test",
  "demo",
  "public",
  "force",
  "apply",
  "add",
  "replay",
  "no-color",
]);

/** The two short forms that everybody tries. */
const SHORT: ReadonlyMap<string, string> = new Map([
  ["-h", "--help"],
  ["-v", "--version"],
]);

/** Commands that start a program: everything behind its name is the program's. */
const STARTS_PROGRAM: ReadonlySet<string> = new Set(["run"]);

export function readArguments(argv: readonly string[]): Arguments {
  const words: string[] = [];
  const flags: Record<string, string> = {};
  for (let position = 0; position < argv.length; position++) {
    const written = argv[position] as string;
    const word = SHORT.get(written) ?? written;
    if (word === "--") {
      words.push(...argv.slice(position + 1));
      break;
    }
    if (!word.startsWith("--")) {
      words.push(word);
      if (words.length < 2 || !STARTS_PROGRAM.has(words[0] as string)) continue;
      words.push(...argv.slice(position + 1));
      break;
    }
    const [name = "", ...value] = word.slice(2).split("=");
    const next = argv[position + 1];
    if (value.length > 0) flags[name] = value.join("=");
    else if (SWITCHES.has(name) || next === undefined || next.startsWith("--")) flags[name] = "true";
    else {
      flags[name] = next;
      position += 1;
    }
  }
  const [command = flags.help === undefined ? "serve" : "help", ...rest] = words;
  return { command, words: rest, flags };
}
