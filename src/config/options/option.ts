// One row of the table of options: where it can be given, its default, how it is read and what it means.

import type { Reader } from "../readers.ts";

export interface Option<T> {
  /** Path of the option in switchyard.yaml; null where a file cannot set it. */
  readonly path: string | null;
  /** Path of a section that a file may also set to the value alone. */
  readonly shortPath: string | null;
  /** Environment variable of the option, and its command-line flag without dashes. */
  readonly env: string | null;
  readonly flag: string | null;
  readonly default: T;
  /** The default as people read it; the value itself where nothing else is said. */
  readonly shownDefault: string;
  /** A secret also has a NAME_FILE variable, and its value is never shown. */
  readonly isSecret: boolean;
  /** True where a version of the run-time configuration can set the option too, and all processes follow. */
  readonly isLive: boolean;
  readonly read: Reader<T>;
  /** One sentence for `switchyard help`, docs/reference/configuration.md and the dashboard. */
  readonly help: string;
}

/** The values that a group of rows gives, under the names of the rows. */
export type ValuesOf<Rows> = {
  readonly [Name in keyof Rows]: Rows[Name] extends Option<infer Value> ? Value : never;
};

/** A row with everything left out filled in: a place that is not named does not exist. */
export function option<T>(row: Partial<Option<T>> & Pick<Option<T>, "default" | "read" | "help">): Option<T> {
  const shownDefault = String(row.default);
  return { path: null, shortPath: null, env: null, flag: null, isSecret: false, isLive: false, shownDefault, ...row };
}
