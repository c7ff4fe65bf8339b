// Says turn by turn what sessions cost more or less than one fixed model, and for what: fresh prompt, prompt read from a
// cache, answers.

import { ratesAt } from "../../src/routing/sessions/outlook.ts";
import type { Outcome, ServedTurn } from "./simulate.ts";

/** Costs of some turns, in USD. */
interface Sum {
  turns: number;
  fresh: number;
  read: number;
  answers: number;
  other: number;
}

const PICO_PER_USD = 1e12;
const NANO_PER_USD = 1e9;

/** Rows of a table, the turns that cost most more first. Both outcomes are of the same conversations. */
export function breakdown(ours: readonly Outcome[], fixed: readonly Outcome[]): readonly string[] {
  const sums = new Map<string, Sum>();
  const others = fixed.flatMap(({ served }) => served);
  for (const [place, served] of ours.flatMap(({ served: each }) => each).entries()) {
    const name = kindOf(served);
    const sum = sums.get(name) ?? { turns: 0, fresh: 0, read: 0, answers: 0, other: 0 };
    sums.set(name, sum);
    add(sum, served);
    sum.other += Number(others[place]?.costNano ?? 0n) / NANO_PER_USD;
  }
  const more = ({ fresh, read, answers, other }: Sum): number => fresh + read + answers - other;
  return [...sums]
    .sort(([, one], [, two]) => more(two) - more(one))
    .map(([name, sum]) => {
      const { turns, fresh, read, answers, other } = sum;
      const figures = [fresh + read + answers, fresh, read, answers, other, more(sum)];
      return `| ${[name, turns, ...figures.map((usd) => usd.toFixed(4))].join(" | ")} |`;
    });
}

/** Tier, model, and how the turn came to its host. */
function kindOf({ turn, isLoop, last }: ServedTurn): string {
  const came =
    last === null ? "first turn" : last.hostKey === turn.hostKey ? "same host" : `from ${last.tier} ${last.model}`;
  return `${turn.tier} ${isLoop ? "loop" : "ask"}, ${turn.hostKey}, ${came}`;
}

function add(sum: Sum, { buckets, host }: ServedTurn): void {
  const { input, output, cacheRead, cacheWrite } = ratesAt(
    host.price,
    buckets.input + buckets.cacheRead + buckets.cacheWrite,
  );
  sum.turns += 1;
  sum.fresh += (buckets.input * input + buckets.cacheWrite * (cacheWrite ?? input)) / PICO_PER_USD;
  sum.read += (buckets.cacheRead * (cacheRead ?? input)) / PICO_PER_USD;
  sum.answers += (buckets.output * output) / PICO_PER_USD;
}
