// Words for tool results that a format has no place for, and for text among the messages that no human wrote.

/** Text that is no human's: the router does not take what stands between these marks for a request. */
export function reminder(text: string): string {
  return `<system-reminder>\n${text}\n</system-reminder>`;
}

/** The result of a call that has none. */
export const NO_RESULT = "[no result]";

/** The result of a call that is no longer in the history: hosts refuse it as a result. */
export function orphanedResult(text: string): string {
  return reminder(`Result of an earlier tool call:\n${text}`);
}
