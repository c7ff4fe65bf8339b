// What the process runs with: the outcome of loading, complete and checked. CONTRACT: defaults < file < environment < flags.

import type { Catalog } from "../catalog/catalog.ts";

export interface Settings {
  readonly server: {
    readonly host: string;
    readonly port: number;
    readonly bodyLimitBytes: number;
    /** Origins that browsers may call from; empty means CORS is off. */
    readonly corsOrigins: readonly string[];
    /** How long requests are still taken after SIGTERM, while the process already says that it is not ready. */
    readonly lameDuckSeconds: number;
    /** How long open streams may run on after that. */
    readonly drainSeconds: number;
    /** How long a client may take nothing of its answer. */
    readonly writeStallMs: number;
    /** Addresses and networks of proxies whose X-Forwarded-For is believed. */
    readonly trustedProxies: readonly string[];
    readonly timeouts: ServerTimeouts;
  };
  /** `sqlite:PATH` (absolute) or `postgres://…`. */
  readonly database: string;
  readonly dataDir: string;
  readonly redis: string | null;
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
  readonly isRoutingDebugged: boolean;
  readonly adminToken: string | null;
  /** How long all attempts of a request may take until an answer begins. */
  readonly answerWithinMs: number;
  /** When a breaker opens, and for how long. */
  readonly health: {
    readonly failuresInRow: number;
    readonly failureShare: number;
    readonly callsMin: number;
    readonly windowMs: number;
    readonly openMs: number;
    readonly openMsMax: number;
  };
  readonly limits: Limits;
  readonly logging: { readonly content: boolean; readonly retentionDays: number };
  /** Null when no traces are exported. */
  readonly tracing: Tracing | null;
  readonly catalog: Catalog;
  /** Every option of the table as it came out, for people. */
  readonly options: readonly ShownOption[];
}

/** Where traces go, which, and how. */
export interface Tracing {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: "http/protobuf" | "http/json";
  readonly compression: "none" | "gzip";
  readonly timeoutMs: number;
  /** Attributes of this process, its service's name among them. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: string;
  /** For samplers with a ratio. */
  readonly samplerRatio: number;
  readonly queueMax: number;
  readonly delayMs: number;
}

/** How long a client may take. */
export interface ServerTimeouts {
  readonly headersMs: number;
  /** How long a body may come in too slowly. */
  readonly bodyGraceMs: number;
  readonly requestMs: number;
  readonly keepAliveMs: number;
}

/** How much is taken on: by a key, by a client's address, and by the process. */
export interface Limits {
  readonly requestsPerMinute: number;
  readonly inFlight: number;
  readonly inFlightPerKey: number;
  readonly connections: number;
  readonly wrongKeysPerMinute: number;
  readonly queueMs: number;
  readonly eventLoopDelayMs: number;
  readonly memoryPercent: number;
}

/** One option: its value in words, and where that came from. */
export interface ShownOption {
  readonly name: string;
  /** Its path in the file, its variable and its flag; null where it has none. */
  readonly path: string | null;
  readonly env: string | null;
  readonly flag: string | null;
  /** Null for a secret, whatever it is. */
  readonly value: string | null;
  readonly isSecret: boolean;
  readonly origin: "default" | "file" | "environment" | "flag";
  /** File, line and column, the variable, or the flag; null for a default. */
  readonly place: string | null;
  readonly help: string;
}

/** One thing that is wrong with the configuration, where, and what may have been meant. */
export interface Problem {
  /** Where it stands: `switchyard.yaml:12:5 models[0].price`, `environment PORT`, `flag --port`. */
  readonly place: string;
  readonly message: string;
  readonly suggestion: string | null;
}

export type Loaded =
  | {
      readonly ok: true;
      readonly settings: Settings;
      readonly sources: readonly string[];
      readonly warnings: readonly Problem[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };
