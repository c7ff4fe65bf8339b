// The report of a load: everything that is wrong is collected here, and formatted for people in one place.

/** One thing that is wrong with the configuration, where, and what may have been meant. */
export interface Problem {
  /** Place of the problem: `switchyard.yaml:12:5 models[0].price`, `environment PORT`, `flag --port`. */
  readonly place: string;
  readonly message: string;
  /** Text that would be right in its place; null where nothing is near. */
  readonly suggestion: string | null;
}

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
