// A provider's own list of models: how a format asks for it, and what a row says.

/** A provider's own list of models. */
export interface ModelListing {
  request(place: ListPlace): ListRequest;
  /** Reads a list of models; null when the bytes are none. */
  read(bytes: Buffer): readonly ListedModel[] | null;
  /** The token of the page behind this one, for lists that have pages. Null on the last one. */
  nextPage?(bytes: Buffer): string | null;
  /** Shows at a cloud which models an account may use, free of charge. Absent where only a request can tell. */
  readonly enabling?: Enabling;
}

/** Lists of what an account may use, or one free question for each model. */
export type Enabling =
  | {
      readonly form: "lists";
      readonly paths: readonly string[];
      /** The address that has them, for that of the models. */
      addressFor(baseUrl: string): string;
      /** Names of models; null where the bytes are no list. */
      read(bytes: Buffer): readonly string[] | null;
    }
  | { readonly form: "each"; request(upstream: string): { readonly path: string; readonly body: Buffer } };

interface ListPlace {
  /** The provider's address has a query of its own. */
  readonly hasQuery: boolean;
  /** The token of a page other than the first. */
  readonly page?: string;
}

export interface ListRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A model as its provider lists it. */
export interface ListedModel {
  readonly id: string;
  readonly aliases: readonly string[];
  /** In micro-USD per million tokens; null where the list has no prices. */
  readonly price: ListedPrice | null;
  /** The model's context window, where the list names it. */
  readonly context?: number;
  /** The day on which the model came out, such as 2026-11-19, where the list names it. */
  readonly created?: string;
}

export interface ListedPrice {
  readonly input: number;
  readonly output: number;
}
