// Paths on which clients call a format. Each format has a `paths.ts` with nothing but this data: its codec takes it for the
// router, 404 hints, home page, /llms.txt and OpenAPI, and the dashboard reads the same files for its snippets.

import type { JsonObject } from "./json/fields.ts";

export interface ClientPaths {
  /** The name of its clients in texts, as in "OpenAI clients". */
  readonly clients: string;
  /** The end of the clients' base URL, behind the gateway's own: nothing for clients that add `/v1` themselves. */
  readonly baseUrl: "" | "/v1";
  /** Everything below it belongs to the format, also where nothing is found; the routes' own paths when left out. */
  readonly base?: string;
  /** Beginnings of further paths that belong to the format. */
  readonly otherBases?: readonly string[];
  readonly modelsPath: string;
  readonly routes: readonly CallRoute[];
  /** Headers that a call needs beside its key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Paths of the vendor that are not served here, and what to do instead. */
  readonly notServed?: readonly NotServed[];
}

export type NotServed = readonly [path: RegExp, hint: string];

/** A path where clients ask for completions. */
export interface CallRoute {
  /** `{model}` stands for the model where clients name it in the path. */
  readonly path: string;
  /** The id and the summary of its operation in /openapi.json. */
  readonly operation: string;
  readonly summary: string;
  /** The least that a body has beside its model. */
  readonly example: JsonObject;
  /** Set where the path asks for a stream. Absent where the body does. */
  readonly isStream?: boolean;
  /** The framing of its streams where the path decides it: server-sent events, or AWS's event streams. */
  readonly framing?: "sse" | "aws";
  /** Another path for what a route before it does: nothing of its own has to be warm. */
  readonly isAlias?: true;
  /** The path for a summary of a conversation, which is charged like a completion. */
  readonly compactPath?: string;
  /** The path that counts the input tokens of a request. */
  readonly counting?: { readonly path: string; readonly operation: string };
}
