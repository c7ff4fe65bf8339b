// The settings a process runs with: the outcome of loading, complete and checked. Behaviour 1 says which source wins.

import type { Catalog } from "../catalog/catalog.ts";
import type { Provider } from "../core/model.ts";
import type { Overlay } from "../core/overlay.ts";
import type { IdentityProvider } from "../core/people.ts";
import type { OptionValues } from "./options/table.ts";
import type { Exports } from "./options/telemetry.ts";
import type { WorkerCount } from "./readers.ts";
import type { Problem } from "./report.ts";

/**
 * Sections of the option table as they are, and values that had to be worked out. A new option in one of these sections
 * appears here without another line.
 */
export interface Settings
  extends Exports,
    Pick<
      OptionValues,
      | "routing"
      | "billing"
      | "limits"
      | "health"
      | "logging"
      | "errors"
      | "responses"
      | "files"
      | "prices"
      | "cascade"
      | "search"
      | "alerts"
    > {
  readonly server: Omit<OptionValues["server"], "lameDuckSeconds" | "workers"> & {
    /** Settled: the default depends on the database. */
    readonly lameDuckSeconds: number;
    readonly workers: WorkerCount;
  };
  /** `sqlite:PATH` (absolute) or `postgres://…`. */
  readonly database: string;
  /** Absolute. */
  readonly dataDir: string;
  readonly redis: string | null;
  /** The secret from the environment; null when a file in the data folder holds it. */
  readonly secret: string | null;
  /** Identity providers of people and programs; none where everybody has a password or an API key. */
  readonly identityProviders: readonly IdentityProvider[];
  readonly catalog: Catalog;
  /** The checks for run-time changes. */
  readonly configuration: Configuration;
  /** Every option of the table as it came out, for people. */
  readonly options: readonly ShownOption[];
}

/** One option: its value in words, and where that came from. */
export interface ShownOption {
  readonly name: string;
  /** Path of the setting in the file, its variable and its flag; null where it has none. */
  readonly path: string | null;
  readonly env: string | null;
  readonly flag: string | null;
  /** The value as text; null for a secret. */
  readonly value: string | null;
  /** The default in words. */
  readonly default: string;
  readonly kind: "switch" | "number" | "list" | "choice" | "text";
  /** The words that a choice may be. */
  readonly words: readonly string[];
  readonly isSecret: boolean;
  readonly origin: "default" | "version" | "file" | "environment" | "flag";
  /** File, line and column, the variable, or the flag; null for a default. Of a version, the path. */
  readonly place: string | null;
  readonly help: string;
  /** True where a version of the run-time configuration can set it. */
  readonly isLive: boolean;
}

/** An entry that the file or the environment sets, so that a version cannot. */
export interface Lock {
  /** The path of a provider, a model, a tier, an option, or a provider's key. */
  readonly path: string;
  readonly origin: Exclude<ShownOption["origin"], "default" | "version">;
  readonly place: string;
}

/** The outcome of a check: what to serve with, or every problem at once. */
export type Checked =
  | ({
      readonly ok: true;
      readonly options: readonly ShownOption[];
      readonly warnings: readonly Problem[];
    } & LiveSettings)
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Sections with options that a version can set. Their other options stay as they were at the start. */
type LiveSection = "routing" | "billing" | "limits" | "logging" | "errors" | "responses" | "prices" | "alerts";

/** Settings that can change while the process runs. */
export type LiveSettings = Pick<Settings, "catalog" | LiveSection>;

/** Settings that stay as they were at the start. `limits` has options of both kinds. */
export type FixedSettings = Omit<Settings, "catalog" | Exclude<LiveSection, "limits">>;

/** The configuration of a process, for documents that come later. */
export interface Configuration {
  readonly locks: readonly Lock[];
  check(overlay: Overlay): Checked;
  /** One provider of a document that need not be complete: null where it has problems of its own, or is none. */
  provider(overlay: Overlay, id: string): Provider | null;
}

/** Settings, or every problem that prevents them. */
/** A configuration file as it was read. */
export interface FileText {
  readonly text: string;
  /** The day it was last changed, which prices in it count from. */
  readonly day: string;
}

export type Loaded =
  | {
      readonly ok: true;
      readonly settings: Settings;
      /** Sources of the values in words: defaults, the file, variables, flags. */
      readonly sources: readonly string[];
      /** The configuration file; null where there is none. */
      readonly file: FileText | null;
      readonly warnings: readonly Problem[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };
