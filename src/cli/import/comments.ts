// The comments of a YAML file, with their offsets. The lexer finds them all, also where no node keeps them.

import { Lexer } from "yaml";

interface FoundComment {
  readonly offset: number;
  readonly text: string;
}

/** The lexer's own signs, which are not in the source: byte order mark, document, flow end and scalar. */
const SIGNS: ReadonlySet<string> = new Set(["\u0002", "\u0018", "\u001f"]);
const SCALAR = "\u001f";

export function commentsOf(source: string): readonly FoundComment[] {
  const found: FoundComment[] = [];
  let offset = 0;
  let before = "";
  for (const token of new Lexer().lex(source)) {
    // What follows the sign of a scalar is its text, whatever it begins with.
    if (token.startsWith("#") && before !== SCALAR) found.push({ offset, text: token.replace(/^# ?/, "").trimEnd() });
    if (!SIGNS.has(token)) offset += token.length;
    before = token;
  }
  return found;
}
