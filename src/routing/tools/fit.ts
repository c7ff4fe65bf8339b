// The fit between tools and a request, and how many calls it seems to ask for, as a row of named measures. Reads a bounded
// part of request and definitions. The order of the measures is part of the weights (classifier/layout.ts).

import type { Tool } from "../../core/chat.ts";
import { FITTED_SCENARIOS, TOOL_MEASURES, type ToolMeasure } from "../classifier/layout.ts";
import type { PromptText, Signals } from "../classifier/signals.ts";

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
/** What no model can know by itself: whose it is, and what is true now. */
const OWN_OR_NOW =
  /\b(my|our|we|us|me|mine|now|today|tonight|tomorrow|currently|latest|meine?|unsere?|jetzt|heute|morgen|mon|mes|notre|aujourd'hui|demain|mis?|nuestr[oa]|hoy|ahora|mañana|oggi|domani|hoje|amanhã)\b/i;

/** Whether the request names a tool and gives it values, or asks for something of the asker's own or of this moment. */
export function needsTool(measures: Float32Array, text: string): boolean {
  if ((measures[NAME_SHARE] as number) < NAMED_FROM) return false;
  return (measures[VALUES] as number) > 0 || OWN_OR_NOW.test(text.slice(0, ASK_CHARS));
}

/** Bounds on what is read of request and definitions. By hand. */
const ASK_CHARS = 1600;
const WORDS_MAX = 240;
const TOOLS_MAX = 24;
const DESCRIPTION_CHARS = 300;
const FIELDS_MAX = 16;
/** Words are compared by so many first letters. By hand. */
const STEM_CHARS = 5;

/** Words that say nothing of a task, and words that say nothing of a tool. */
const COMMON = words(
  "what when where which with have this that from your about please could would should there their need want give tell",
  "make many much some does into will help like know the and for are was were how who can you its they them than then",
);
const GENERIC = words(
  "get find calculate search create set check compute retrieve fetch list update add data info information details",
  "function given based specific using certain value values number return returns",
);
const JOINING = words(
  "also then another respectively each both additionally finally lastly well next second following",
);
const ASKING = words("calculate find get what how book search retrieve tell show check order play compute");

/** Words that name the same thing in a request and in a tool: each line counts as its first word. */
const CONCEPTS = conceptsOf(
  "weather rain raining rainy snow sunny windy forecast umbrella humidity warm cold hot temperature",
  "flight fly flying plane airline airport",
  "package parcel shipment shipping delivery tracking",
  "currency euro euros dollars usd eur yen pounds rupees francs exchange",
  "restaurant eat dinner lunch food cuisine diner italian greek sushi pizza",
  "music song songs jazz listen album playlist playback",
  "calendar appointment meeting schedule event agenda",
  "stock stocks shares trading nasdaq",
  "mail email inbox message",
  "alarm wake timer remind reminder",
  "image picture photo png jpg jpeg pixels",
  "thermostat heating degrees warmer colder",
  "hotel stay accommodation lodging",
  "ticket bug issue",
  "product products buy shop shopping cheap cheapest",
  "directions route drive driving navigate",
  "movie movies film films cinema",
  "recipe recipes cook cooking ingredients",
  "mortgage loan loans repayment",
  "database orders customers sales records rows",
  "probability odds chance likelihood",
  "conversion convert ounces teaspoons tablespoons cups kilometers miles unit units",
  "monarch king queen kings ruler",
  "lawyer attorney legal law",
);

interface Fit {
  readonly nameShare: number;
  readonly hits: number;
  readonly required: number;
  readonly hasList: boolean;
}

/** What the measures of one request are computed from. */
interface ToolFacts {
  /** The beginning of the request, and the same without what stands in brackets. */
  readonly ask: string;
  readonly plain: string;
  readonly said: readonly string[];
  /** Those of the words that say something, and their stems. */
  readonly telling: readonly string[];
  readonly stems: ReadonlySet<string>;
  /** The tools by how well they fit, and the best of them. */
  readonly fits: readonly Fit[];
  readonly best: Fit;
  /** Numbers and quoted texts of the request. */
  readonly values: number;
  readonly signals: Signals;
}

const NO_FIT: Fit = { nameShare: 0, hits: 0, required: 0, hasList: false };
/** A word of a description counts this share of a whole name, when tools are ordered by fit. By hand. */
const HIT_SHARE = 0.05;

/** How each measure is computed. The divisors bring common requests between 0 and 1; by hand, as the fit adapts to them. */
const MEASURED: Readonly<Record<ToolMeasure, (facts: ToolFacts) => number>> = {
  constant: () => 1,
  "name share": ({ best }) => best.nameShare,
  "log hits": ({ best }) => Math.log1p(best.hits),
  "hits per word": ({ best, stems }) => (stems.size === 0 ? 0 : best.hits / stems.size),
  "second name share": ({ fits }) => fits[1]?.nameShare ?? 0,
  "names several": ({ fits }) => (fits.filter((fit) => fit.nameShare >= NAMED_FROM).length > 1 ? 1 : 0),
  conjunctions: ({ plain }) => Math.min(1, count(plain, / and | und | et | y | и |、|和/g) / 4),
  separators: ({ plain }) => Math.min(1, count(plain, /[,;，；]/g) / 6),
  "joining words": ({ said }) => Math.min(1, said.filter((word) => JOINING.has(word)).length / 3),
  sentences: ({ plain }) => Math.min(1, count(plain, /[.?!。？！](?=\s|$)/g) / 4),
  "log words": ({ signals }) => Math.log1p(signals.words) / 5,
  "values per parameter": ({ values, best }) => Math.min(1, values / (best.required + 1) / 4),
  "takes list": ({ best }) => (best.hasList ? 1 : 0),
  "asking words": ({ said }) => Math.min(1, said.filter((word) => ASKING.has(word)).length / 3),
  "opens as question": ({ ask }) => (/^\W*(who|what|when|where|which|how|why|is|are|can|do|does)\b/i.test(ask) ? 1 : 0),
  "joined clauses": ({ plain }) =>
    Math.min(1, count(plain, /\band (also |then |what|how|find|get|the |another|a )/gi) / 3),
  "repeated words": ({ telling, stems }) => Math.min(1, (telling.length - stems.size) / 8),
  "lacks values": ({ best, values }) => (best.required > 0 && values === 0 ? 1 : 0),
};

export function measureTools(tools: readonly Tool[], prompt: PromptText): Float32Array {
  const facts = gatherFacts(tools, prompt);
  return Float32Array.from(TOOL_MEASURES, (name) => MEASURED[name](facts));
}

function gatherFacts(tools: readonly Tool[], prompt: PromptText): ToolFacts {
  const { signals } = prompt;
  const ask = prompt.text.slice(0, ASK_CHARS);
  const said = wordsOf(prompt);
  const telling = said.filter((word) => !COMMON.has(word));
  const stems = new Set(telling.map(stemOf));
  const fits = tools.slice(0, TOOLS_MAX).map((tool) => fitOf(tool, stems));
  fits.sort((a, b) => b.nameShare + b.hits * HIT_SHARE - (a.nameShare + a.hits * HIT_SHARE));
  const plain = ask.replace(/\[[^\]]{0,400}\]|\([^)]{0,400}\)/g, " ");
  const values = signals.numbers + count(ask, /'[^']{1,80}'|"[^"]{1,80}"/g);
  return { ask, plain, said, telling, stems, fits, best: fits[0] ?? NO_FIT, values, signals };
}

function count(text: string, pattern: RegExp): number {
  return (text.match(pattern) ?? []).length;
}

/** Whether the request says at least half of what a tool's name does ("play some jazz": `play_music`). */
export function namesTool(tools: readonly Tool[], prompt: PromptText): boolean {
  const stems = new Set(wordsOf(prompt).map(stemOf));
  return tools.slice(0, TOOLS_MAX).some((tool) => fitOf(tool, stems).nameShare >= NAMED_FROM);
}

function wordsOf(prompt: PromptText): readonly string[] {
  return (lowerHead(prompt, ASK_CHARS).match(/[a-z]{3,24}/g) ?? []).slice(0, WORDS_MAX);
}

/** The first characters of a request in lower case. A few letters grow when lowered and would shift where the text is cut. */
export function lowerHead({ text, lower }: PromptText, chars: number): string {
  return lower.length === text.length ? lower.slice(0, chars) : text.slice(0, chars).toLowerCase();
}

function fitOf({ name, description, parameters }: Tool, stems: ReadonlySet<string>): Fit {
  const parts = splitName(name).filter((part) => !GENERIC.has(part));
  const named = parts.filter((part) => stems.has(stemOf(part))).length;
  const properties = parameters?.properties;
  const fields = typeof properties === "object" && properties !== null ? Object.entries(properties) : [];
  const names = fields.slice(0, FIELDS_MAX).flatMap(([field]) => splitName(field));
  const described =
    description
      .slice(0, DESCRIPTION_CHARS)
      .toLowerCase()
      .match(/[a-z]{3,24}/g) ?? [];
  const known = new Set([...described, ...names].filter((word) => !COMMON.has(word) && !GENERIC.has(word)).map(stemOf));
  let hits = 0;
  for (const stem of known) if (stems.has(stem)) hits++;
  const required = Array.isArray(parameters?.required) ? parameters.required.length : 0;
  const hasList = fields
    .slice(0, FIELDS_MAX)
    .some(([, field]) => (field as { type?: unknown } | null)?.type === "array");
  return {
    nameShare: parts.length === 0 ? 0 : named / parts.length,
    hits,
    required,
    hasList,
  };
}

function splitName(name: string): readonly string[] {
  const spaced = name.slice(0, 80).replace(/([a-z])([A-Z])/g, "$1 $2");
  return spaced.toLowerCase().match(/[a-z]{3,24}/g) ?? [];
}

function stemOf(word: string): string {
  const stem = word.slice(0, STEM_CHARS);
  return CONCEPTS.get(stem) ?? stem;
}

function conceptsOf(...groups: readonly string[]): ReadonlyMap<string, string> {
  const lists = groups.map((group) => group.split(" ").map((word) => word.slice(0, STEM_CHARS)));
  return new Map(lists.flatMap(([first = "", ...others]) => others.map((stem) => [stem, first] as const)));
}

function words(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(" ")));
}
