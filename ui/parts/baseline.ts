// The baseline as it is named beside savings: the model, its price and the day of the price.

import type { BaselinePrice } from "../../src/core/requests/records.ts";

export function baselineNamed(model: string, price: BaselinePrice | null): string {
  if (price === null) return model;
  return `${model} at $${price.input} / $${price.output} per million tokens (${price.asOf})`;
}
