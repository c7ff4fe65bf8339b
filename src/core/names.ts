// Names that people give to accounts, keys and profiles. A character that cannot be seen is refused: it could turn the
// reading direction, or make two names look alike.

import { GatewayError } from "./errors.ts";

const NAME_MAX = 200;
/** Control and format characters, line separators and halves of surrogate pairs. */
const HIDDEN = "\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}";
/** Format characters that emoji and several scripts are written with. They do not change the direction. */
const JOINERS = "\\u200c\\u200d";

/** For the contract. */
export const NAME_PATTERN = `^([^${HIDDEN}]|[${JOINERS}])*$`;

const HIDDEN_CHARACTER = new RegExp(`(?![${JOINERS}])[${HIDDEN}]`, "u");
const ALL_HIDDEN = new RegExp(HIDDEN_CHARACTER, "gu");

/** For names from before the rule: what cannot be seen is replaced by a character that can. */
export function shownName(name: string): string {
  return name.replace(ALL_HIDDEN, "\ufffd");
}

/** The name without spaces around it. `owner` begins the error, as in "A key". */
export function checkedName(owner: string, given: string): string {
  const name = given.trim();
  const hidden = HIDDEN_CHARACTER.exec(name)?.[0].codePointAt(0);
  if (hidden !== undefined) {
    const code = hidden.toString(16).toUpperCase().padStart(4, "0");
    throw problem(`The name has a control or format character (U+${code}), which cannot be seen. Remove it.`);
  }
  if (name.length < 1 || name.length > NAME_MAX) throw problem(`${owner}'s name has 1 to ${NAME_MAX} characters.`);
  return name;
}

function problem(message: string): GatewayError {
  return new GatewayError("badRequest", message, { param: "name" });
}
