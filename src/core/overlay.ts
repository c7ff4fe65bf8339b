// The run-time configuration: a document with the keys of switchyard.yaml, kept as numbered versions. Secrets in it are
// sealed; nobody but the process that calls providers opens them.

export type Json = string | number | boolean | null | readonly Json[] | JsonMap;
export interface JsonMap {
  readonly [key: string]: Json;
}

/** `providers`, `models`, `tiers` and the options that can change at run time, as a file would have them. Checked like a file, so anything may stand here. */
export type Overlay = JsonMap;

export const NO_OVERLAY: Overlay = {};

export function isJsonMap(value: Json | undefined): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A secret as a version keeps it. People see everything but `sealed`. */
export interface SealedSecret extends JsonMap {
  readonly sealed: string;
  /** Empty where the secret is too short to show any of it. */
  readonly lastFour: string;
  readonly setBy: string;
  /** ISO 8601, UTC. */
  readonly setAt: string;
}

/** One state of the run-time configuration. Number 0 is the empty one, before anybody changed anything. */
export interface ConfigVersion {
  readonly number: number;
  /** A person's e-mail, the admin token or the command line. */
  readonly author: string;
  readonly atMs: number;
  readonly note: string;
  readonly document: Overlay;
}

export interface VersionStore {
  /** The number of the newest version; 0 where there is none. */
  newest(): Promise<number>;
  find(number: number): Promise<ConfigVersion | null>;
  /** Newest first, all with a number below `before`. */
  list(page: { readonly limit: number; readonly before: number }): Promise<readonly ConfigVersion[]>;
  /** False when another version has taken the number meanwhile. */
  insert(version: ConfigVersion): Promise<boolean>;
}
