// npm run eval:sessions: what conversations cost under four ways to route them. --file FILE replays an operator's own log.

import { readFileSync } from "node:fs";
import { formatUsd } from "../src/core/money.ts";
import { readOption } from "./command.ts";
import { generateCorpus } from "./corpus/generate.ts";
import { makeRandom } from "./random.ts";
import { type Conversation, MIXES, type Mix, makeConversations } from "./sessions/conversations.ts";
import { readConversations } from "./sessions/log.ts";
import { type Outcome, simulate, WAYS, wholeCatalog } from "./sessions/simulate.ts";

const SEED = 17;
const seed = Number(readOption("seed") ?? SEED);
const catalog = wholeCatalog();
const file = readOption("file");
const count = Number(readOption("conversations") ?? 24);

if (file !== null) show(file, readConversations(readFileSync(file, "utf8")));
else {
  const rows = generateCorpus(process.cwd());
  for (const mix of Object.keys(MIXES) as Mix[]) {
    show(mix, makeConversations(mix, count, rows, makeRandom(seed)));
  }
}

function show(name: string, conversations: readonly Conversation[]): void {
  const outcomes = WAYS.map((way) => [way, simulate(conversations, way, catalog)] as const);
  const today = outcomes[0]?.[1].costNano ?? 0n;
  console.log(`\n${name}: ${conversations.length} conversations, ${outcomes[0]?.[1].turns} turns\n`);
  console.log(
    "| way | cost (USD) | against per request | switches | cached | below its tier |\n|---|---|---|---|---|---|",
  );
  for (const [way, outcome] of outcomes) console.log(rowOf(way, outcome, today));
}

function rowOf(way: string, outcome: Outcome, today: bigint): string {
  const { costNano, switches, promptTokens, cachedTokens, belowTier } = outcome;
  const change = Math.round((Number(costNano) / Number(today) - 1) * 100);
  const cached = Math.round((cachedTokens / promptTokens) * 100);
  return `| ${way} | ${Number(formatUsd(costNano)).toFixed(4)} | ${change > 0 ? "+" : ""}${change}% | ${switches} | ${cached}% | ${belowTier} |`;
}
