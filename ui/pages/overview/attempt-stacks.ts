// The numbers of the chart of attempts: requests by the attempt that answered, and by the providers that failed. What was
// not counted is said, and not shown as zero.

import type { AnsweredAt } from "../../../src/core/requests/records.ts";
import { timesOf } from "../../charts/scale.ts";
import { percent, plural } from "../../format.ts";
import type { Range } from "../../range.ts";
import type { Failures, Usage } from "../../types.ts";
import { OTHER, perStep, sum } from "../../usage.ts";
import * as TEXT from "./text.ts";

/** The attempts with their names and colours, from good to bad. */
const TRIES: readonly { readonly at: AnsweredAt; readonly name: string; readonly mark: string }[] = [
  { at: "first", name: "1st", mark: "accent" },
  { at: "second", name: "2nd", mark: "caution" },
  { at: "later", name: "3rd+", mark: "grave" },
  { at: "none", name: TEXT.allFailed, mark: "bad" },
];

/** Requests that one attempt answered, per step. */
interface TryStack {
  readonly at: AnsweredAt;
  readonly name: string;
  readonly mark: string;
  readonly total: number;
  readonly values: readonly number[];
  /** Tells of each step whether its attempts were counted. A step without requests is known to be zero. */
  readonly isKnown: readonly boolean[];
}

/** All four stacks, also where one is empty: the table has a column for each. */
export function tryStacks(range: Range, rows: readonly Usage[]): readonly TryStack[] {
  const isKnown = perStep(range, rows, ({ answered, requests }) => answered.unknown < requests, true);
  return TRIES.map(({ at, name, mark }) => ({
    ...{ at, name, mark, isKnown },
    total: sum(rows, ({ answered }) => answered[at]),
    values: perStep(range, rows, ({ answered }) => answered[at], 0),
  }));
}

/** The trend in words. */
export function describeTries(rows: readonly Usage[]): string {
  const [first, asked] = [
    sum(rows, ({ answered }) => answered.first),
    sum(rows, ({ answered: { first: one, second, later, none } }) => one + second + later + none),
  ];
  if (asked === 0) return leftOut(rows) || TEXT.noProviderWasCalled;
  const sentence = first === asked ? TEXT.allFirst : TEXT.answeredFirst(percent(first / asked));
  return `${sentence} ${leftOut(rows)}`.trimEnd();
}

/** Requests that one provider failed, per step. */
interface FailureStack {
  /** Id of the provider; null for the stack of all smaller ones. */
  readonly provider: string | null;
  readonly name: string;
  readonly mark: string;
  readonly total: number;
  readonly values: readonly number[];
}

/** Colours of the providers with the most failures. More colours could not be told apart. */
const MARKS = ["bad", "caution", "accent", "broken"] as const;

/** The provider with the most failures first; those beyond the fourth are one stack. */
export function failureStacks(range: Range, rows: readonly Failures[]): readonly FailureStack[] {
  const totals = new Map<string, number>();
  for (const { provider, requests } of rows) totals.set(provider, (totals.get(provider) ?? 0) + requests);
  const ranked = [...totals].sort(([, a], [, b]) => b - a).map(([provider]) => provider);
  const stackOf = (providers: readonly string[]) => {
    const own = rows.filter(({ provider }) => providers.includes(provider));
    const byStart = new Map<number, number>();
    for (const { start, requests } of own) {
      byStart.set(Date.parse(start), (byStart.get(Date.parse(start)) ?? 0) + requests);
    }
    const values = timesOf(range, range.step).map((time) => byStart.get(time) ?? 0);
    return { total: own.reduce((all, { requests }) => all + requests, 0), values };
  };
  const named = ranked.slice(0, MARKS.length).map((provider, index) => ({
    ...{ provider, name: provider, mark: MARKS[index] as string },
    ...stackOf([provider]),
  }));
  const rest = ranked.slice(MARKS.length);
  if (rest.length === 0) return named;
  return [...named, { provider: null, name: `${OTHER} (${rest.length})`, mark: "muted", ...stackOf(rest) }];
}

/** The trend in words. A request may fail at two providers, so the sum can exceed the requests. */
export function describeFailures([top, ...others]: readonly FailureStack[], rows: readonly Usage[]): string {
  const twice = others.length === 0 ? "" : ` ${TEXT.countsForBoth}`;
  const sentence =
    top === undefined ? TEXT.noProviderFailures : `${top.name}: ${plural(top.total, TEXT.failedRequest)}.${twice}`;
  return `${sentence} ${leftOut(rows)}`.trimEnd();
}

/** Requests from before attempts were counted. */
function leftOut(rows: readonly Usage[]): string {
  const unknown = sum(rows, ({ answered }) => answered.unknown);
  return unknown === 0 ? "" : TEXT.excludesUncounted(plural(unknown, TEXT.olderRequest));
}
