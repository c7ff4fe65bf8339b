// Values: what a request gives for the parameters that a tool requires, and what in it speaks for several calls: numbers of
// one unit, parts that are built alike, parts that fit different tools.

import { splitName, stemOf } from "./concepts.ts";

/** A parameter that must be given: its name and its schema. */
export type RequiredField = readonly [name: string, schema: Readonly<Record<string, unknown>>];

/** The type that a schema names, several joined; empty where it names none as JSON Schema does. */
export function typeOf({ type }: RequiredField[1]): string {
  const names: readonly unknown[] = Array.isArray(type) ? type : [type];
  return names.filter((name) => typeof name === "string").join();
}

/** Parts of a request that may be values of a parameter. */
export interface Given {
  readonly ask: string;
  readonly lower: string;
  readonly numbers: number;
  readonly quotes: number;
  readonly properNames: number;
  readonly hasAddress: boolean;
}

const NUMBER_TYPE = /^(?:number|integer|float|double|long)$/i;
const GROUP_TYPE = /^(?:array|list|tuple|dict|object|hashmap|arraylist)$/i;
const TIME_FIELD = /date|time|day|month|year|start|end|when|deadline|period|duration/i;
const ADDRESS_FIELD = /url|uri|link|path|file|mail|domain|endpoint|host|ip$/i;
const NAME_FIELD =
  /location|city|country|place|region|state|origin|destination|address|from|to$|name|title|company|artist|team|symbol|league|author|brand/i;
const TIME =
  /\b(?:today|tomorrow|tonight|yesterday|now|noon|midnight|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december|morning|evening|afternoon|weekend)\b|\b(?:next|last|this|past|coming) (?:day|week|month|year|quarter|night)|\d/i;

/** Weight of a doubtful value: a choice that is not named, a switch, a name or plain words for a text. By hand. */
const DOUBTFUL = { choice: 0.3, flag: 0.5, name: 0.8, text: 0.5 } as const;

/** The share of the required parameters for which the request holds a value of their form. */
export function givenShare(needs: readonly RequiredField[], given: Given): number {
  if (needs.length === 0) return 1;
  let found = 0;
  let numbersLeft = given.numbers;
  for (const [name, schema] of needs) {
    if (!NUMBER_TYPE.test(typeOf(schema))) found += givenFor(name, schema, given);
    else if (numbersLeft-- > 0) found++;
  }
  return found / needs.length;
}

/** 0 to 1: how surely the request holds a value for a parameter that is no number. */
function givenFor(name: string, schema: RequiredField[1], given: Given): number {
  const { ask, numbers, quotes, properNames, hasAddress } = given;
  const type = typeOf(schema);
  if (Array.isArray(schema.enum)) return namesOne(schema.enum, given.lower) ? 1 : DOUBTFUL.choice;
  if (/bool/i.test(type)) return DOUBTFUL.flag;
  if (GROUP_TYPE.test(type)) return numbers + quotes + properNames > 0 ? 1 : 0;
  if (TIME_FIELD.test(name)) return TIME.test(ask) ? 1 : 0;
  if (ADDRESS_FIELD.test(name)) return hasAddress || quotes > 0 ? 1 : 0;
  if (NAME_FIELD.test(name)) return properNames + quotes > 0 ? 1 : 0;
  if (quotes > 0) return 1;
  return properNames > 0 ? DOUBTFUL.name : DOUBTFUL.text;
}

const CHOICES_MAX = 24;

/** Tells whether a text in lower case names one of the values that a parameter may have. */
export function namesOne(choices: readonly unknown[], lower: string): boolean {
  return choices
    .slice(0, CHOICES_MAX)
    .some((choice) => typeof choice === "string" && choice.length > 2 && lower.includes(choice.toLowerCase()));
}

/** The share of the required parameters that the request mentions by name. */
export function namedShare(needs: readonly RequiredField[], stems: ReadonlySet<string>): number {
  if (needs.length === 0) return 0;
  return needs.filter(([name]) => splitName(name).some((part) => stems.has(stemOf(part)))).length / needs.length;
}

const QUANTITY = /([$€£¥]?)(?<![\p{L}\d])\d[\d,.]{0,20}(?:st|nd|rd|th)?(%|\s?[\p{L}°]{1,24})?/gu;
/** Words behind a number that are no unit. */
const NO_UNITS = new Set(["and", "or", "to", "und", "et", "y"]);
/** "Hour" and "hours" are one unit: their first letters are compared. */
const UNIT_CHARS = 5;

/** Counts the numbers with the commonest unit: "3 of 10 rounds and 5 of 15 rounds" gives the same thing twice. */
export function sameUnits(text: string): number {
  const counts = new Map<string, number>();
  let most = 0;
  for (const [, sign = "", word = ""] of text.matchAll(QUANTITY)) {
    const unit = sign || word.trim().toLowerCase().slice(0, UNIT_CHARS);
    if (unit === "" || NO_UNITS.has(unit)) continue;
    const count = (counts.get(unit) ?? 0) + 1;
    counts.set(unit, count);
    most = Math.max(most, count);
  }
  return most;
}

/** A number, a quoted text or a name. */
const VALUE = /\d|["'`][^"'`]+["'`]|(?<=\S )\p{Lu}\p{L}+|^ *\p{Lu}\p{L}+/u;
/** So many words two parts share when one is built like the other; for a part of few words one will do. By hand. */
const FRAME_WORDS = 2;
const SHORT_PART = 4;

/** Counts the parts with a value that are built like the part before: "from Rome to Oslo, and from Oslo to Bern". */
export function repeatedFrames(parts: readonly string[]): number {
  let repeated = 0;
  let before: ReadonlySet<string> | null = null;
  for (const part of parts) {
    if (!VALUE.test(part)) continue;
    const words: ReadonlySet<string> = new Set(part.toLowerCase().match(/[a-z]{2,24}/g) ?? []);
    const shared = before === null ? 0 : countShared(words, before);
    if (shared >= FRAME_WORDS || (shared > 0 && words.size <= SHORT_PART)) repeated++;
    before = words;
  }
  return repeated;
}

/** A tool by the stems of its name, and of name, description and parameters. */
interface NamedTool {
  readonly named: readonly string[];
  readonly known: ReadonlySet<string>;
}

/** Weight of a word of the description beside a word of the name, and the score from which a part fits. By hand. */
const KNOWN_SHARE = 0.2;
const FITS_FROM = 0.8;

/** Counts the different tools that the parts of a request fit best. `parts` are the stems of each. */
export function toolsOfParts(parts: readonly ReadonlySet<string>[], tools: readonly NamedTool[]): number {
  if (tools.length < 2) return tools.length;
  const used = new Set<number>();
  for (const stems of parts) {
    let best = -1;
    let highest = 0;
    for (const [at, { named, known }] of tools.entries()) {
      const points = named.filter((stem) => stems.has(stem)).length + KNOWN_SHARE * countShared(stems, known);
      if (points > highest) [best, highest] = [at, points];
    }
    if (highest >= FITS_FROM) used.add(best);
  }
  return used.size;
}

function countShared(some: ReadonlySet<string>, others: ReadonlySet<string>): number {
  let shared = 0;
  for (const one of some) if (others.has(one)) shared++;
  return shared;
}
