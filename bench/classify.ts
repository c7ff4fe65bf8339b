// The routing decision alone, in this process: parsing a body, and deciding it.

import type { Catalog } from "../src/catalog/catalog.ts";
import { NO_CONSTRAINTS } from "../src/core/decision.ts";
import { openaiChat } from "../src/formats/openai-chat/codec.ts";
import { parseBody } from "../src/formats/wire/json-source.ts";
import { decide } from "../src/routing/decide.ts";
import { bodyOf, SIZES, type Size } from "./clients/bodies.ts";
import { nowUs } from "./clients/timestamps.ts";
import { percentile } from "./harness/statistics.ts";
import { show, type Table } from "./harness/table.ts";

export interface ClassifyPlan {
  /** How long each of the two steps is measured for each size. */
  readonly forMs: number;
}

/** No model is cooling down. */
const NOBODY: ReadonlyMap<string, string> = new Map();

export function measureClassify(catalog: Catalog, plan: ClassifyPlan): Table {
  return {
    title: "classify: in process, times in µs",
    columns: ["body", "bytes", "read p50", "read p99", "decide p50", "decide p99"],
    rows: SIZES.map((size) => measureSize(size, catalog, plan)),
    notes: ["read: bytes to a checked request. decide: the request to a decision, with the catalogue that ships."],
  };
}

function measureSize(size: Size, catalog: Catalog, { forMs }: ClassifyPlan): string[] {
  const bytes = Buffer.from(JSON.stringify(bodyOf(size)));
  const read = () => {
    const { source, body } = parseBody(bytes);
    return openaiChat.readRequest(source, body);
  };
  const { chat, controls } = read();
  const question = { chat, controls, constraints: NO_CONSTRAINTS, restingModels: NOBODY };
  const columns = [read, () => decide(question, catalog)].flatMap((work) => {
    timeEach(work, forMs / 4);
    const timesUs = timeEach(work, forMs);
    return [show(percentile(timesUs, 0.5)), show(percentile(timesUs, 0.99))];
  });
  return [size, String(bytes.length), ...columns];
}

/** Each call is timed by itself, so that percentiles show garbage collections. */
function timeEach(work: () => unknown, forMs: number): readonly number[] {
  const timesUs: number[] = [];
  const endsAtUs = nowUs() + forMs * 1000;
  while (timesUs.length === 0 || nowUs() < endsAtUs) {
    const startedAt = performance.now();
    work();
    timesUs.push((performance.now() - startedAt) * 1000);
  }
  return timesUs;
}
