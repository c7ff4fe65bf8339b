// Which prices of the run-time configuration a catalogue file takes the place of.

import { expect, test } from "vitest";
import { readBuiltin } from "../../../src/catalog/builtin.ts";
import { fileOf } from "../../../src/catalog/file/file.ts";
import { packCatalogue } from "../../../src/catalog/file/published.ts";
import { hostRows, type ModelRow } from "../../../src/catalog/rows.ts";
import type { Overlay } from "../../../src/core/overlay.ts";
import { ownPricesOver, withCatalogue } from "../../../src/versions/catalogue.ts";
import { modelsOf } from "../../../src/versions/document.ts";

test.each([
  ["run-time configuration", true],
  ["our contract", true],
  ["LiteLLM and genai-prices", false],
  ["the page of the catalogue", false],
])("a price whose source is %s is an operator's own: %s", (priceSource, isOwn) => {
  const file = fileOf(readBuiltin());
  const row = file.models.find(({ price, endpoint }: ModelRow & { endpoint?: string }) => price && !endpoint);
  const { id, price, priceSource: shipped = "" } = row as ModelRow;
  const [{ provider }] = hostRows(row as ModelRow) as [{ provider: string }];
  const own = { input: 7, output: 9 };
  const source = priceSource === "the page of the catalogue" ? shipped : priceSource;
  const models = [{ id, provider, price: own, priceAsOf: "2026-01-01", priceSource: source }];
  const document: Overlay = { models };
  expect(ownPricesOver(document, file)).toEqual(isOwn ? [id] : []);
  const [after] = modelsOf(withCatalogue(document, packCatalogue(file, "key", file.version), file));
  expect(after?.price).toEqual(isOwn ? own : price);
});
