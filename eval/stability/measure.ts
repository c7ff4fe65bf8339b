// The stability of a router: how often a change that means nothing moves the tier, whether all unknown words are treated
// alike, and how often the same request in two languages has the same tier.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tierRank } from "../../src/core/tiers.ts";
import { makeRandom, shuffle } from "../random.ts";
import type { Answer, Router } from "../routers.ts";
import type { Row } from "../rows.ts";
import { CHANGES, unknownWords } from "./changes.ts";

/** Prompts that are asked twice, chosen by the seed. */
const PROMPTS = 1000;
const SEED = 11;
const UNKNOWN_WORDS = 400;

/** Effect of one change on the prompts. */
interface FlipRate {
  readonly name: string;
  readonly aim: number;
  /** Shares of prompts: another tier, a lower tier, a tier two or more away, another category. */
  readonly flips: number;
  readonly down: number;
  readonly byTwo: number;
  readonly categories: number;
  /** The mean change of the score. */
  readonly scoreShift: number;
}

export interface Stability {
  readonly prompts: number;
  readonly changes: readonly FlipRate[];
  /** The share of single unknown words outside of their commonest tier. */
  readonly strayWords: number;
  /** The share of pairs in two languages with the same tier, and how many there are. */
  readonly sameTier: number;
  readonly pairs: number;
}

/** `root` is the folder of the project. */
export function measureStability(router: Router, rows: readonly Row[], root: string, most = PROMPTS): Stability {
  const ask = (prompt: string): Answer => router({ id: "", source: "", prompt, label: {} });
  const prompts = choosePrompts(rows, most);
  const before = prompts.map(ask);
  const changes = CHANGES.map(({ name, aim, apply }) => {
    const random = makeRandom(SEED);
    const after = prompts.map((prompt) => ask(apply(prompt, random)));
    const moves = after.map((answer, at) => tierRank(answer.tier) - tierRank((before[at] as Answer).tier));
    const share = (holds: (move: number, at: number) => boolean) => moves.filter(holds).length / prompts.length;
    const shift = after.reduce((sum, { score }, at) => sum + Math.abs(score - (before[at] as Answer).score), 0);
    return {
      name,
      aim,
      flips: share((move) => move !== 0),
      down: share((move) => move < 0),
      byTwo: share((move) => Math.abs(move) > 1),
      categories: share((_, at) => after[at]?.category !== before[at]?.category),
      scoreShift: shift / prompts.length,
    };
  });
  const pairs = readPairs(root).map((pair) => pair.map((prompt) => ask(prompt).tier));
  const sameTier = pairs.filter(([first, second]) => first === second).length / pairs.length;
  return { prompts: prompts.length, changes, strayWords: strayWords(ask), sameTier, pairs: pairs.length };
}

/** Three words, or four characters of a script without spaces: a greeting beside less than that is small talk. */
const REQUEST = /\S\s+\S+\s+\S|[\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7a3]{4}/u;

/** Different requests without tools and history. */
function choosePrompts(rows: readonly Row[], most: number): readonly string[] {
  const plain = rows.filter(({ tools, messages }) => tools === undefined && messages === undefined);
  const prompts = [...new Set(plain.map(({ prompt }) => prompt))].filter((prompt) => REQUEST.test(prompt));
  shuffle(prompts, makeRandom(SEED));
  return prompts.slice(0, most);
}

function strayWords(ask: (prompt: string) => Answer): number {
  const counts = new Map<string, number>();
  for (const word of unknownWords(UNKNOWN_WORDS, makeRandom(SEED))) {
    const { tier } = ask(word);
    counts.set(tier, (counts.get(tier) ?? 0) + 1);
  }
  return 1 - Math.max(...counts.values()) / UNKNOWN_WORDS;
}

/** Every request of pairs.txt in English, beside each of its translations. */
function readPairs(root: string): readonly (readonly [string, string])[] {
  const blocks = readFileSync(join(root, "eval/stability/pairs.txt"), "utf8").split("\n\n");
  return blocks.flatMap((block) => {
    const [english = "", ...others] = block.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    return others.map((other) => [english, other] as const);
  });
}

export function writeStability({ prompts, changes, strayWords: stray, sameTier, pairs }: Stability): string {
  const percent = (share: number) => `${(share * 100).toFixed(1)}%`;
  return [
    `stability (${prompts} prompts, each asked again with one change):`,
    "| change | tier changes | aim | of them down | by two tiers | category changes | mean score change |",
    "|---|---|---|---|---|---|---|",
    ...changes.map(({ name, aim, flips, down, byTwo, categories, scoreShift }) => {
      const cells = [flips, aim, down, byTwo, categories].map(percent);
      return `| ${name} | ${cells.join(" | ")} | ${scoreShift.toFixed(4)} |`;
    }),
    "",
    `single unknown words outside of their commonest tier: ${percent(stray)}`,
    `the same request in two languages in the same tier: ${percent(sameTier)} of ${pairs} pairs`,
  ].join("\n");
}
