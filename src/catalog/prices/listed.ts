// A model as a price list has it.

import type { Capability, Endpoint, FormatName } from "../../core/model.ts";
import type { RateCard } from "../../core/price.ts";

export interface ListedRow {
  /** The provider's own name for the model. */
  readonly upstream: string;
  /** Provider of the price, as the list names providers. */
  readonly vendor: string;
  readonly price: RateCard;
  readonly context: number | null;
  readonly maxOutput: number | null;
  /** Capabilities of a chat model, or the one endpoint that another model serves. */
  readonly capabilities: readonly (Capability | Endpoint)[];
  /** Formats of the model, where its provider has it in one format alone. */
  readonly formats?: readonly FormatName[];
  /** Prices of later days, in their order. */
  readonly later?: readonly DatedCard[];
  /** Says that the price depends on the hour; `price` is the usual one. */
  readonly isTimed?: boolean;
  /** The day from which the model is gone; empty where only that it is going is known. */
  readonly retires?: string;
}

/** A price from a day on, such as 2027-01-01. */
export interface DatedCard {
  readonly from: string;
  readonly price: RateCard;
}

export interface RefusedRow {
  readonly upstream: string;
  readonly vendor: string;
  readonly reason: string;
}

export type ReadRow = ListedRow | RefusedRow | null;

/** A parsed object, whose numbers are text. */
export type TextMap = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is TextMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function countOf(text: unknown): number | null {
  const value = typeof text === "string" && /^\d{1,9}(?:\.0+)?$/.test(text) ? Number(text) : 0;
  return value > 0 ? value : null;
}
