// The fit between tools and a request, and how many calls it seems to ask for, as a row of named measures. Reads a bounded
// part of request and definitions. The order of the measures is part of the weights (classifier/layout.ts).

import type { Tool } from "../../core/chat.ts";
import { FITTED_SCENARIOS, TOOL_MEASURES, type ToolMeasure } from "../classifier/layout.ts";
import type { PromptText, Signals } from "../classifier/signals.ts";
import { asksOf } from "./asks.ts";
import { FOREIGN_CONCEPTS, splitName, stemOf, wordsIn } from "./concepts.ts";
import { fieldsOf, isUniversalTool } from "./kinds.ts";
import { groupsIn, type ListKind, longestLists, mostAlike, mostFilled, ordinalsIn } from "./repeats.ts";
import {
  type Given,
  givenShare,
  namedShare,
  namesOne,
  type RequiredField,
  repeatedFrames,
  sameUnits,
  toolsOfParts,
  typeOf,
} from "./values.ts";
import { isVerb, verbClassesOf } from "./verbs.ts";

type FittedScenario = (typeof FITTED_SCENARIOS)[number];

/** The likeliest scenario by fitted coefficients, one row of them per scenario; not `optional` where a tool is needed. */
export function fitScenario(measures: Float32Array, coefficients: Float32Array, isNeeded: boolean): FittedScenario {
  let best: FittedScenario = "single";
  let highest = Number.NEGATIVE_INFINITY;
  for (const [row, scenario] of FITTED_SCENARIOS.entries()) {
    if (isNeeded && scenario === "optional") continue;
    let points = 0;
    for (let at = 0; at < TOOL_MEASURES.length; at++) {
      points += (coefficients[row * TOOL_MEASURES.length + at] as number) * (measures[at] as number);
    }
    if (points > highest) [best, highest] = [scenario, points];
  }
  return best;
}

const NAME_SHARE = TOOL_MEASURES.indexOf("name share");
const VALUES = TOOL_MEASURES.indexOf("values per parameter");
/** The share of a tool's name from which the request names it: "play some jazz" names `play_music`. By hand. */
const NAMED_FROM = 0.5;
/** Words for things that no model can know by itself: personal matters, and facts of this moment. */
const OWN_OR_NOW =
  /\b(my|our|we|us|me|mine|now|today|tonight|tomorrow|currently|latest|meine?|unsere?|jetzt|heute|morgen|mon|mes|notre|aujourd'hui|demain|mis?|nuestr[oa]|hoy|ahora|mañana|oggi|domani|hoje|amanhã)\b/i;

/**
 * Tells whether the request names a tool and gives it values, or asks for something of the asker's own or of this
 * moment.
 */
export function needsTool(measures: Float32Array, text: string): boolean {
  if ((measures[NAME_SHARE] as number) < NAMED_FROM) return false;
  return (measures[VALUES] as number) > 0 || OWN_OR_NOW.test(text.slice(0, ASK_CHARS));
}

/** Bounds on what is read of request and definitions. By hand. */
const ASK_CHARS = 1600;
const WORDS_MAX = 240;
const TOOLS_MAX = 24;
const DESCRIPTION_CHARS = 300;

/** Words that say nothing of a task, and words that say nothing of a tool. */
const COMMON = words(
  "我想 我要 我需 需要 要一 一个 一下 请帮 帮我 我的 可以 能否 是否 如何 什么 怎么 这个 那个 你能 一些 想了 希望 现在 我们 他们 一份",
  "what when where which with have this that from your about please could would should there their need want give tell",
  "make many much some does into will help like know the and for are was were how who can you its they them than then",
);
const GENERIC = words(
  "查询 获取 提供 根据 指定 用户 信息 使用 数据 进行 相关 返回 参数 功能 工具 并且 以及 包括 生成 详细",
  "get find calculate search create set check compute retrieve fetch list update add data info information details",
  "function given based specific using certain value values number return returns",
);
const JOINING = words(
  "然后 同时 另外 此外 以及 并且 接着 最后 还有 还要 分别 其次 再把 并将 并把",
  "also then another respectively each both additionally finally lastly well next second following",
);
const ASKING = words("calculate find get what how book search retrieve tell show check order play compute");

interface Fit {
  readonly nameShare: number;
  /** The share of the name that the best tool does not explain. */
  readonly ownShare: number;
  readonly hits: number;
  /** Parameters that must be given. */
  readonly needs: readonly RequiredField[];
  readonly hasList: boolean;
  readonly numberFields: number;
  readonly textFields: number;
  readonly listFields: number;
  /** Classes of its verbs, as bits. */
  readonly verbs: number;
  /** Says that the request names one of the values that a field may have. */
  readonly namesChoice: boolean;
  readonly isUniversal: boolean;
  /** Stems of name, description and fields, and those of the name alone. */
  readonly known: ReadonlySet<string>;
  readonly named: readonly string[];
}

/** Facts that the measures of one request are computed from. */
interface ToolFacts {
  /** The beginning of the request without what stands in brackets. */
  readonly plain: string;
  /** The same in parts: at commas, at "and" and at the ends of sentences. */
  readonly segments: readonly string[];
  /** The stems of each part. */
  readonly parts: readonly ReadonlySet<string>[];
  readonly said: readonly string[];
  /** Words that say something, and their stems. */
  readonly telling: readonly string[];
  readonly stems: ReadonlySet<string>;
  /** The tools by how well they fit, and the best of them. */
  readonly fits: readonly Fit[];
  readonly best: Fit;
  /** Numbers, and quoted texts of the request. */
  readonly numbers: number;
  readonly quotes: number;
  readonly verbs: number;
  readonly properNames: number;
  readonly given: Given;
  /** The sentences that ask. */
  readonly asks: readonly string[];
  /** Number of values that stand in a row, by their kind. */
  readonly lists: Readonly<Record<ListKind, number>>;
  readonly signals: Signals;
}

const NO_FIT: Fit = {
  nameShare: 0,
  ownShare: 0,
  hits: 0,
  needs: [],
  hasList: false,
  numberFields: 0,
  textFields: 0,
  listFields: 0,
  verbs: 0,
  namesChoice: false,
  isUniversal: false,
  known: new Set(),
  named: [],
};
/**
 * Weights that order the tools: a word of a description counts this share of a whole name, a fitting verb so much. By
 * hand.
 */
const HIT_SHARE = 0.05;
const VERB_SHARE = 0.1;
/** Asking for information is what every question does: it tells no tool from another. */
const FIND = 1;

const ADDRESS =
  /https?:\/\/|www\.|\S@\S+\.\w|(?:^|\s)[~.]?\/[\w.-]+\/|\b[\w-]+\.(?:txt|csv|json|pdf|png|jpe?g|py|js|ts|md|xml|html?|xlsx?|docx?|log|sh|zip)\b/i;
const OPENS_WITH_VERB =
  /^\W*(?:please |kindly |hey,? |hi,? |(?:can|could|would|will) you (?:please )?|i(?: would|'d)? (?:like|want|need) (?:you )?to |i need |let's |help me (?:to )?)*([a-z]+)/i;
const PROPER_NAME = /(?<=[\p{Ll}\d,;:)'"] )\p{Lu}[\p{L}\d'-]+/gu;

/** Computes each measure. The divisors bring common requests between 0 and 1; by hand, as the fit adapts to them. */
const MEASURED: Readonly<Record<ToolMeasure, (facts: ToolFacts) => number>> = {
  constant: () => 1,
  "name share": ({ best }) => best.nameShare,
  "log hits": ({ best }) => Math.log1p(best.hits),
  conjunctions: ({ plain }) => Math.min(1, count(plain, / and | und | et | y | и |、|和/g) / 4),
  separators: ({ plain }) => Math.min(1, count(plain, /[,;，；]/g) / 6),
  "joining words": ({ said }) => Math.min(1, said.filter((word) => JOINING.has(word)).length / 3),
  sentences: ({ plain }) => Math.min(1, count(plain, /[.?!。？！](?=\s|$)/g) / 4),
  "values per parameter": ({ numbers, quotes, best }) => Math.min(1, (numbers + quotes) / (best.needs.length + 1) / 4),
  "takes list": ({ best }) => (best.hasList ? 1 : 0),
  "asking words": ({ said }) => Math.min(1, said.filter((word) => ASKING.has(word)).length / 3),
  "joined clauses": ({ plain }) => Math.min(1, count(plain, JOINED) / 3),
  "repeated words": ({ telling, stems }) => Math.min(1, (telling.length - stems.size) / 8),
  "lacks values": ({ best, numbers, quotes }) => (best.needs.length > 0 && numbers + quotes === 0 ? 1 : 0),
  "verb fits": ({ best, verbs }) => ((best.verbs & verbs & ~FIND) !== 0 ? 1 : (best.verbs & verbs) !== 0 ? 0.5 : 0),
  "verb offered by none": ({ fits, verbs }) =>
    (verbs & ~FIND) !== 0 && fits.every((fit) => (fit.verbs & verbs & ~FIND) === 0 && !fit.isUniversal) ? 1 : 0,
  "covered words": coveredShare,
  "covers nothing": (facts) => (coveredShare(facts) === 0 ? 1 : 0),
  "names nothing": ({ best }) => (best.nameShare === 0 ? 1 : 0),
  "best covers": ({ stems, fits }) => newlyCovered(stems, fits.slice(0, 1)),
  "second covers": ({ stems, fits }) => (fits.length < 2 ? 0 : newlyCovered(stems, fits.slice(0, 2))),
  "takes anything": ({ fits }) => (fits.some(({ isUniversal }) => isUniversal) ? 1 : 0),
  "names choice": ({ best }) => (best.namesChoice ? 1 : 0),
  "second own share": ({ fits }) => fits.slice(1).reduce((most, fit) => Math.max(most, fit.ownShare), 0),
  "quotes per field": ({ quotes, best }) => Math.min(1, quotes / (best.textFields + 1) / 2),
  "proper names": ({ properNames }) => Math.min(1, properNames / 5),
  "gives address": ({ given }) => (given.hasAddress ? 1 : 0),
  "further orders": ({ segments }) => Math.min(1, Math.max(0, segments.filter(opensWithVerb).length - 1) / 2),
  "another one": ({ plain }) => Math.min(1, count(plain, ANOTHER) / 2),
  "required given": ({ best, given }) => givenShare(best.needs, given),
  "required named": ({ best, stems }) => namedShare(best.needs, stems),
  "same unit": ({ best, plain }) => (best.hasList ? 0 : Math.min(1, Math.max(0, sameUnits(plain) - 1) / 3)),
  "numbers beyond fields": ({ best, numbers }) =>
    best.hasList ? 0 : Math.max(0, Math.min(1, (numbers / Math.max(1, best.numberFields) - 1) / 2)),
  "tools of the parts": ({ parts, fits }) => Math.min(1, Math.max(0, toolsOfParts(parts, fits) - 1) / 2),
  "repeated frames": ({ segments }) => Math.min(1, repeatedFrames(segments) / 3),
  "list beyond fields": ({ lists, best }) => {
    const room = { text: best.textFields, number: best.numberFields, group: best.listFields };
    const over = Math.max(
      lists.group - Math.max(1, room.group),
      best.hasList ? 0 : lists.text - Math.max(1, room.text),
      best.hasList ? 0 : lists.number - Math.max(1, room.number),
    );
    return Math.max(0, Math.min(1, over / 3));
  },
  "slot filled again": ({ plain, best }) => Math.min(1, Math.max(0, mostFilled(plain) - 1) / (best.hasList ? 6 : 3)),
  "groups beyond fields": ({ given, best }) =>
    Math.max(0, Math.min(1, (groupsIn(given.ask) - Math.max(1, best.listFields)) / 3)),
  "identifiers alike": ({ given, best }) => Math.min(1, Math.max(0, mostAlike(given.ask) - 1) / (best.hasList ? 6 : 3)),
  ordinals: ({ plain }) => Math.min(1, ordinalsIn(plain) / 3),
  "further asks": ({ asks }) => Math.min(1, Math.max(0, asks.length - 1) / 3),
  "further questions": ({ signals }) => Math.min(1, Math.max(0, signals.questions - 1) / 2),
};

/** A clause that is joined to the one before it. */
const JOINED = /\band (?:also |then |what|how|find|get|the |another|a )|并|然后|同时|另外|此外|以及|接着|还要/gi;

function coveredShare({ fits, stems }: ToolFacts): number {
  if (stems.size === 0) return 0;
  let covered = 0;
  for (const stem of stems) if (fits.some(({ known }) => known.has(stem))) covered++;
  return covered / stems.size;
}

/** The share of the telling words that the last of some tools knows and those before it do not. */
function newlyCovered(stems: ReadonlySet<string>, fits: readonly Fit[]): number {
  const last = fits.at(-1);
  if (last === undefined || stems.size === 0) return 0;
  const others = fits.slice(0, -1);
  let covered = 0;
  for (const stem of stems) if (last.known.has(stem) && !others.some(({ known }) => known.has(stem))) covered++;
  return covered / stems.size;
}

function opensWithVerb(segment: string): boolean {
  return isVerb((OPENS_WITH_VERB.exec(segment.trim())?.[1] ?? "").toLowerCase());
}

const ANOTHER =
  /\b(?:another|respectively|separately|one (?:for|to|from|with|at|in|on|back)|the other|the same (?:for|with)|do the same|second one|as well as|also)\b/gi;

export function measureTools(tools: readonly Tool[], prompt: PromptText): Float32Array {
  const facts = gatherFacts(tools, prompt);
  return Float32Array.from(TOOL_MEASURES, (name) => MEASURED[name](facts));
}

function gatherFacts(tools: readonly Tool[], prompt: PromptText): ToolFacts {
  const { signals } = prompt;
  const ask = prompt.text.slice(0, ASK_CHARS);
  const said = wordsOf(prompt);
  const telling = said.filter((word) => !COMMON.has(word));
  const stems = new Set([...telling.map(stemOf), ...foreignConcepts(prompt)]);
  const verbs = verbClassesOf(said);
  const order = ({ nameShare, hits, verbs: own }: Fit) =>
    nameShare + hits * HIT_SHARE + ((own & verbs & ~FIND) !== 0 ? VERB_SHARE : 0);
  const fits = tools.slice(0, TOOLS_MAX).map((tool) => fitOf(tool, stems, prompt.lower));
  fits.sort((a, b) => order(b) - order(a));
  const plain = ask.replace(/\[[^\]]{0,400}\]|\([^)]{0,400}\)/g, " ");
  const segments = plain.split(SEAMS, SEGMENTS_MAX);
  const { numbers } = signals;
  const quotes = count(ask, /'[^']{1,80}'|"[^"]{1,80}"|`[^`]{1,80}`/g);
  const properNames = count(plain, PROPER_NAME);
  const asks = asksOf(plain, opensWithVerb);
  return {
    plain,
    segments,
    parts: segments.map((segment) => new Set(wordsIn(segment.toLowerCase(), WORDS_MAX).map(stemOf))),
    said,
    telling,
    stems,
    fits: fits.map((fit) => ({ ...fit, ownShare: ownShareOf(fit, fits[0] ?? NO_FIT, stems) })),
    best: fits[0] ?? NO_FIT,
    numbers,
    quotes,
    verbs,
    properNames,
    given: { ask, lower: prompt.lower, numbers, quotes, properNames, hasAddress: ADDRESS.test(ask) },
    asks,
    lists: longestLists(ask, plain),
    signals,
  };
}

const SEAMS = /[;,，；、。]|[.?!](?=\s|$)|\b(?:and|then|also|plus|und|et|y|и)\b/;
const SEGMENTS_MAX = 24;

/** Returns the share of a tool's name that stands in the request, without the words that the best tool knows too. */
function ownShareOf(fit: Fit, best: Fit, stems: ReadonlySet<string>): number {
  const own = fit.named.filter((stem) => stems.has(stem) && !best.known.has(stem)).length;
  return fit === best || fit.named.length === 0 ? 0 : own / fit.named.length;
}

function count(text: string, pattern: RegExp): number {
  return (text.match(pattern) ?? []).length;
}

/** Tells whether the request says at least half of what a tool's name does ("play some jazz": `play_music`). */
export function namesTool(tools: readonly Tool[], prompt: PromptText): boolean {
  const stems = new Set(wordsOf(prompt).map(stemOf));
  return tools.slice(0, TOOLS_MAX).some(({ name }) => shareOf(stemsOfName(splitName(name)), stems) >= NAMED_FROM);
}

function wordsOf(prompt: PromptText): readonly string[] {
  return wordsIn(lowerHead(prompt, ASK_CHARS), WORDS_MAX);
}

/** The first characters of a request in lower case. A few letters grow when lowered and would shift where the text is cut. */
export function lowerHead({ text, lower }: PromptText, chars: number): string {
  return lower.length === text.length ? lower.slice(0, chars) : text.slice(0, chars).toLowerCase();
}

const LIST_TYPE = /^(?:array|list|tuple|arraylist)$/i;

function fitOf(tool: Tool, stems: ReadonlySet<string>, lower: string): Fit {
  const { name, description, parameters } = tool;
  const parts = splitName(name);
  const fields = fieldsOf(tool);
  const required: readonly unknown[] = Array.isArray(parameters?.required) ? parameters.required : [];
  const named = stemsOfName(parts);
  const described = wordsIn(description.slice(0, DESCRIPTION_CHARS).toLowerCase(), WORDS_MAX);
  const words = [...described, ...fields.flatMap(([field]) => splitName(field))];
  const known = new Set(words.filter((word) => !COMMON.has(word) && !GENERIC.has(word)).map(stemOf));
  let hits = 0;
  for (const stem of known) if (stems.has(stem)) hits++;
  for (const stem of named) known.add(stem);
  const typed = (type: RegExp) => fields.filter(([, schema]) => type.test(typeOf(schema))).length;
  return {
    nameShare: shareOf(named, stems),
    ownShare: 0,
    hits,
    needs: fields.filter(([field]) => required.includes(field)),
    hasList: typed(LIST_TYPE) > 0,
    listFields: typed(LIST_TYPE),
    numberFields: typed(/^(?:number|integer|float|double|long)$/),
    textFields: typed(/^(?:string|any)$/),
    verbs: verbClassesOf([...parts, ...described.slice(0, VERBS_IN)]),
    namesChoice: fields.some(([, { enum: choices }]) => Array.isArray(choices) && namesOne(choices, lower)),
    isUniversal: isUniversalTool(tool),
    known,
    named,
  };
}

function stemsOfName(parts: readonly string[]): readonly string[] {
  return parts.filter((part) => !GENERIC.has(part)).map(stemOf);
}

function shareOf(named: readonly string[], stems: ReadonlySet<string>): number {
  return named.length === 0 ? 0 : named.filter((stem) => stems.has(stem)).length / named.length;
}

/** Words of a description among which its verb is looked for. By hand. */
const VERBS_IN = 3;
/** The concepts that a request in another script names. */
function foreignConcepts({ text }: PromptText): readonly string[] {
  const ask = text.slice(0, ASK_CHARS);
  if (!hasOtherScript(ask)) return [];
  const lower = ask.toLowerCase();
  return FOREIGN_CONCEPTS.filter(([, words]) => words.some((word) => lower.includes(word))).map(([stem]) => stem);
}

/** Tells whether a text has letters of another script than Latin. */
export function hasOtherScript(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x24f && (code < 0x2000 || code > 0x2bff)) return true;
  }
  return false;
}

function words(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(" ")));
}
