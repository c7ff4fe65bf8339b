// How much a request puts on the table at once, by counting: words, numbers, brackets, variables, commas.
// Within one kind of task this ranks difficulty better than length alone does (docs/routing.md).

import type { Signals } from "./signals.ts";

export function loadOf({ words, numbers, brackets, singles, commas }: Signals): number {
  return (
    0.45 * Math.log1p(words) +
    0.35 * Math.log1p(numbers) +
    0.25 * Math.log1p(brackets) +
    0.2 * Math.log1p(singles) +
    0.15 * Math.log1p(commas)
  );
}
