// Where loading collects what is wrong, and how that is shown to people.

import type { Problem } from "./settings.ts";

/** Problems stop the start; warnings are shown and the start goes on. */
export interface Report {
  readonly problems: Problem[];
  readonly warnings: Problem[];
}

export function emptyReport(): Report {
  return { problems: [], warnings: [] };
}

/** One line each: place, what is wrong, and what may have been meant. */
export function formatProblems(problems: readonly Problem[]): string {
  return problems.map(formatProblem).join("\n");
}

function formatProblem(problem: Problem): string {
  const hint = problem.suggestion === null ? "" : ` Did you mean "${problem.suggestion}"?`;
  return `${problem.place}: ${problem.message}.${hint}`;
}
