// One row of the table of settings: where it can be given, its default, how it is read and what it means.

import type { Reader } from "../readers.ts";

export interface Option<T> {
  /** Its path in switchyard.yaml; null where a file cannot set it. */
  readonly path: string | null;
  readonly env: string | null;
  readonly flag: string | null;
  readonly default: T;
  /** The default in words for people. */
  readonly shownDefault: string;
  /** A secret also has a NAME_FILE variable, and its value is never shown. */
  readonly isSecret: boolean;
  readonly read: Reader<T>;
  readonly help: string;
}

export function option<T>(row: Row<T>): Option<T> {
  const shownDefault = String(row.default);
  return { path: null, env: null, flag: null, isSecret: false, shownDefault, ...row };
}

type Row<T> = Partial<Option<T>> & Pick<Option<T>, "default" | "read" | "help">;
