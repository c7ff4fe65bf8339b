// Regular expressions of callers, matched in time that grows with the text only: an expression that backtracks could hold the
// process up for minutes. All states of the expression go through the text together. Look-around and references to groups
// are refused, because nothing matches them that way.

/** Longer expressions are refused. */
export const PATTERN_CHARS_MAX = 512;
/** Steps of an expression, with counted repeats written out. */
const STEPS_MAX = 2_000;
/** Work for one answer: about 20 ms. */
export const PATTERN_WORK_MAX = 2_000_000;

/** Work that is left, shared by all matches of one answer. */
export interface Work {
  left: number;
}

export interface Pattern {
  /** Returns null where the work that is left does not suffice. */
  matches(text: string, work: Work): boolean | null;
}

/** An expression that cannot be used, with the reason in words. */
export class PatternError extends Error {}

/** Throws PatternError. The expression may match anywhere in the text, as in JavaScript without flags. */
export function compilePattern(source: string): Pattern {
  if (source.length > PATTERN_CHARS_MAX) throw new PatternError(`has more than ${PATTERN_CHARS_MAX} characters`);
  nativeOf(source);
  const reader: PatternReader = { source, at: 0 };
  const node = readAlternatives(reader);
  if (reader.at < source.length) throw new PatternError("has an unmatched parenthesis");
  const program: ProgramStep[] = [];
  write(node, program);
  program.push({ op: "end" });
  return { matches: (text, work) => run(program, text, work) };
}

/** JavaScript's own reading says whether it is an expression at all. It is only run on single characters. */
function nativeOf(source: string): RegExp {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Escapes that mean nothing are refused under "u" only.
    }
  }
  throw new PatternError("is no regular expression");
}

// Reading.

type Assertion = "start" | "end" | "boundary" | "inside";
type PatternNode =
  | { readonly kind: "character"; readonly test: (character: string) => boolean }
  | { readonly kind: "assertion"; readonly assertion: Assertion }
  | { readonly kind: "sequence"; readonly nodes: readonly PatternNode[] }
  | { readonly kind: "alternatives"; readonly nodes: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly node: PatternNode; readonly min: number; readonly max: number };

interface PatternReader {
  readonly source: string;
  at: number;
}

function readAlternatives(reader: PatternReader): PatternNode {
  const nodes = [readSequence(reader)];
  while (reader.source[reader.at] === "|") {
    reader.at++;
    nodes.push(readSequence(reader));
  }
  return nodes.length === 1 ? (nodes[0] as PatternNode) : { kind: "alternatives", nodes };
}

function readSequence(reader: PatternReader): PatternNode {
  const nodes: PatternNode[] = [];
  while (reader.at < reader.source.length && !"|)".includes(reader.source[reader.at] as string)) {
    nodes.push(readRepeats(readAtom(reader), reader));
  }
  return { kind: "sequence", nodes };
}

const QUANTIFIER = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y;

function readRepeats(node: PatternNode, reader: PatternReader): PatternNode {
  QUANTIFIER.lastIndex = reader.at;
  const found = QUANTIFIER.exec(reader.source);
  if (found === null) return node;
  reader.at += found[0].length;
  const [sign, least, comma, most] = found;
  if (least === undefined) {
    return { kind: "repeat", node, min: sign.startsWith("+") ? 1 : 0, max: sign.startsWith("?") ? 1 : Infinity };
  }
  const min = Number(least);
  const max = comma === "" ? min : most === "" ? Infinity : Number(most);
  if (min > STEPS_MAX || (max !== Infinity && max > STEPS_MAX)) throw tooLarge();
  return { kind: "repeat", node, min, max };
}

const ASSERTIONS: Readonly<Record<string, Assertion>> = { "^": "start", $: "end", "\\b": "boundary", "\\B": "inside" };
/** A class, an escape, or a character of one or two units. */
const ATOM =
  /\[\^?(?:\\.|[^\]\\])*\]|\\(?:[pP]\{[^}]*\}|u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|.)|./suy;

function readAtom(reader: PatternReader): PatternNode {
  const { source } = reader;
  if (source[reader.at] === "(") return readGroup(reader);
  ATOM.lastIndex = reader.at;
  const [text = ""] = ATOM.exec(source) ?? [];
  reader.at += text.length;
  const assertion = ASSERTIONS[text];
  if (assertion !== undefined) return { kind: "assertion", assertion };
  if (/^\\[1-9k]/.test(text)) throw new PatternError("refers back to a group, which is not supported");
  return { kind: "character", test: testOf(text) };
}

function readGroup(reader: PatternReader): PatternNode {
  const { source } = reader;
  if (/^\(\?(?:<?[=!])/.test(source.slice(reader.at, reader.at + 4))) {
    throw new PatternError("looks ahead or behind, which is not supported");
  }
  const [opening = "("] = /^\((?:\?:|\?<[^>]*>)?/.exec(source.slice(reader.at)) ?? [];
  if (opening === "(" && source[reader.at + 1] === "?") throw new PatternError("has a group of an unknown kind");
  reader.at += opening.length;
  const node = readAlternatives(reader);
  reader.at++;
  return node;
}

const ASCII = 128;

/** Asks JavaScript about classes and escapes, once for each character of ASCII. */
function testOf(text: string): (character: string) => boolean {
  if (!/^[.[\\]/.test(text)) return (character) => character === text;
  const native = nativeOf(`^(?:${text})$`);
  const known = new Int8Array(ASCII);
  return (character) => {
    const code = character.charCodeAt(0);
    if (code >= ASCII) return native.test(character);
    if (known[code] === 0) known[code] = native.test(character) ? 1 : -1;
    return known[code] === 1;
  };
}

// A program: each step takes a character, goes on at other steps, or asserts something of the place.

type ProgramStep =
  | { readonly op: "take"; readonly test: (character: string) => boolean }
  | { readonly op: "assert"; readonly assertion: Assertion }
  | { readonly op: "go"; to: readonly number[] }
  | { readonly op: "end" };

function write(node: PatternNode, program: ProgramStep[]): void {
  if (program.length > STEPS_MAX) throw tooLarge();
  if (node.kind === "character") program.push({ op: "take", test: node.test });
  else if (node.kind === "assertion") program.push({ op: "assert", assertion: node.assertion });
  else if (node.kind === "sequence") for (const each of node.nodes) write(each, program);
  else if (node.kind === "alternatives") writeAlternatives(node.nodes, program);
  else writeRepeat(node, program);
}

function writeAlternatives(nodes: readonly PatternNode[], program: ProgramStep[]): void {
  const fork = goStep(program);
  const ends: GoStep[] = [];
  fork.to = nodes.map((node) => {
    const at = program.length;
    write(node, program);
    ends.push(goStep(program));
    return at;
  });
  for (const end of ends) end.to = [program.length];
}

function writeRepeat({ node, min, max }: Extract<PatternNode, { kind: "repeat" }>, program: ProgramStep[]): void {
  for (let count = 0; count < min; count++) write(node, program);
  if (max === Infinity) {
    const at = program.length;
    const fork = goStep(program);
    write(node, program);
    goStep(program).to = [at];
    fork.to = [at + 1, program.length];
    return;
  }
  const forks: GoStep[] = [];
  for (let count = min; count < max; count++) {
    forks.push(goStep(program));
    write(node, program);
  }
  for (const fork of forks) fork.to = [...fork.to, program.length];
}

type GoStep = Extract<ProgramStep, { op: "go" }>;

/** A step that goes on to the next one until it is told where. */
function goStep(program: ProgramStep[]): GoStep {
  const step: GoStep = { op: "go", to: [program.length + 1] };
  program.push(step);
  if (program.length > STEPS_MAX) throw tooLarge();
  return step;
}

function tooLarge(): PatternError {
  return new PatternError("repeats too much");
}

function run(program: readonly ProgramStep[], text: string, work: Work): boolean | null {
  const characters = [...text];
  // The place in the text at which a step was last entered.
  const entered = new Int32Array(program.length).fill(-1);
  let taking: number[] = [];
  for (let at = 0; at <= characters.length; at++) {
    // A match may begin at every place.
    const pending = [...taking, 0];
    const next: number[] = [];
    while (pending.length > 0) {
      const place = pending.pop() as number;
      if (entered[place] === at) continue;
      entered[place] = at;
      work.left--;
      const step = program[place] as ProgramStep;
      if (step.op === "end") return true;
      if (step.op === "go") pending.push(...step.to);
      else if (step.op === "assert") {
        if (holds(step.assertion, characters, at)) pending.push(place + 1);
      } else if (at < characters.length && step.test(characters[at] as string)) next.push(place + 1);
    }
    if (work.left < 0) return null;
    taking = next;
  }
  return false;
}

function holds(assertion: Assertion, characters: readonly string[], at: number): boolean {
  if (assertion === "start") return at === 0;
  if (assertion === "end") return at === characters.length;
  const isBoundary = isWord(characters[at - 1]) !== isWord(characters[at]);
  return isBoundary === (assertion === "boundary");
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /^\w$/.test(character);
}
