// Facts that the README and the docs state in words, held against the code and the data that make them true.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listFiles } from "../../../scripts/setup/files.mjs";
import { readBuiltin } from "../../../src/catalog/builtin.ts";
import type { Decision } from "../../../src/core/decision.ts";
import { writeService } from "../../../src/formats/service/service-object.ts";

const ROOT = join(import.meta.dirname, "../../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const PAGES = ["README.md", ...listFiles(ROOT, "docs").filter((path) => path.endsWith(".md"))];
const { models } = readBuiltin();

// Take this test out when the package can be had from npm.
test("no page sends readers to a package that is not published", () => {
  expect(PAGES.filter((path) => read(path).includes("npx switchyard"))).toEqual([]);
});

test("the README counts the models", () => {
  expect(read("README.md")).toContain(` ${models.length} models, any compatible server`);
});

test("the guide for OpenRouter counts the models that it hosts", () => {
  const hosted = models.filter((model) => JSON.stringify([model.provider, model.hosts]).includes('"openrouter"'));
  expect(read("docs/guides/from-openrouter.md")).toContain(`a host of ${hosted.length} models of the catalogue`);
});

test("the page of request fields lists the fields of the service object", () => {
  const decision = { session: { state: "started" }, model: "m", efforts: { m: "low" } } as unknown as Decision;
  const outcome = { isFallback: false, savings: 0, isUsageEstimated: true, host: "lab", charge: 1n, cascade: [] };
  const service = writeService(decision, outcome, [{ code: "usage_estimated", message: "An estimate." }]);
  const [, table = ""] = /## In the response\n([\s\S]*?)\n## /.exec(read("docs/reference/request-fields.md")) ?? [];
  const documented = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, field]) => field);
  expect(documented.sort()).toEqual(Object.keys(service).sort());
});
