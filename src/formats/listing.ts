// A provider's own list of models: how a format asks for it, and what a row says.

/** A provider's own list of models. */
export interface ModelListing {
  request(place: ListPlace): ListRequest;
  /** Reads a list of models; null when the bytes are none. */
  read(bytes: Buffer): readonly ListedModel[] | null;
  /** The token of the page behind this one, for lists that have pages. Null on the last one. */
  nextPage?(bytes: Buffer): string | null;
}

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
