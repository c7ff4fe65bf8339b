// docs/reference/configuration.md and .env.example say what the table says. `npm run docs` writes them.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { baselineOf } from "../../../src/catalog/baseline.ts";
import { readBuiltin } from "../../../src/catalog/builtin.ts";
import { namedOptions, OPTIONS, optionRows } from "../../../src/config/options/table.ts";
import { configurationPage, environmentExample } from "../../../src/config/reference.ts";
import { goodLoad } from "./workspace.ts";

const builtin = readBuiltin();
const PAGE = "../../../docs/reference/configuration.md";
const EXAMPLE = "../../../.env.example";

function fileText(path: string): string {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}

describe("the files", () => {
  it("are equal to what the table gives", () => {
    expect(fileText(PAGE)).toBe(configurationPage(builtin));
    expect(fileText(EXAMPLE)).toBe(environmentExample(builtin));
  });

  it("name every option, variable, flag and provider key", () => {
    const page = fileText(PAGE);
    const example = fileText(EXAMPLE);
    for (const row of optionRows()) {
      for (const name of [row.path, row.env, row.flag]) if (name !== null) expect(page).toContain(name);
      if (row.env !== null) expect(example).toContain(`#${row.env}=`);
      if (row.env !== null && row.isSecret) expect(example).toContain(`#${row.env}_FILE=`);
    }
    for (const row of builtin.providers) {
      expect(page).toContain(row.keyVariable);
      expect(example).toContain(`#${row.keyVariable}=`);
    }
  });
});

describe("the names in the table", () => {
  it("are unique, because /api/settings lists options of all sections by name", () => {
    const names = namedOptions().map(([name]) => name);
    expect(names.length).toBeGreaterThan(40);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("the baseline in the table", () => {
  it("is the one that ships", () => {
    expect(OPTIONS.catalog.baseline.shownDefault).toBe(baselineOf(builtin.models)?.id);
  });
});

describe("the example in the page", () => {
  it("loads without a word", () => {
    const blocks = [...fileText(PAGE).matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block]) => block as string);
    const yaml = blocks.find((block) => block.includes("tiers:")) as string;
    const { settings, warnings } = goodLoad({ yaml, env: { OPENAI_API_KEY: "k" } });
    expect(warnings).toEqual([]);
    expect(settings.catalog.chains.NANO.map((model) => model.id)).toEqual(["lab-small", "gpt-6-luna"]);
  });
});

describe("the example of the environment", () => {
  it("changes nothing when its filled lines are used", () => {
    const lines = environmentExample(builtin).split("\n");
    const pairs = lines.filter((line) => /^#[A-Z_]+=/.test(line)).map((line) => line.slice(1).split("="));
    const env = Object.fromEntries(pairs) as Record<string, string>;
    expect(Object.keys(env).length).toBeGreaterThan(30);
    const { catalog: _catalog, options: _options, configuration: _checks, ...filled } = goodLoad({ env }).settings;
    const { catalog: _builtin, options: _defaults, configuration: _same, ...plain } = goodLoad({}).settings;
    const places = { dataDir: "", database: "" };
    expect({ ...filled, ...places }).toEqual({ ...plain, ...places });
  });
});
