// The tool requests of our own corpus: sets of tools, a request, and the scenario it belongs to.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolScenario } from "../../src/core/model.ts";
import { isMemoryTool, isUniversalTool, isWebTool } from "../../src/routing/tools/kinds.ts";
import { pick, type Random } from "../random.ts";
import type { Row, WireTool } from "../rows.ts";
import { expand, type WordLists } from "./grammar.ts";

/** A tool, requests for one call of it and requests for several. */
interface ToolTemplate {
  readonly tool: WireTool;
  readonly singles: readonly string[];
  readonly severals: readonly string[];
}

/** Prefixes of requests that belong to another scenario than `single`. */
const WEB = "WEB ";
const MEMORY = "MEM ";
/** Prompts of the tool's field that the tool cannot serve. */
const OTHER = "OPT ";
/** Rounds per tool, each with one more tool beside it. */
const SAMPLES = 4;

export function makeToolRows(folder: string, lists: WordLists, random: Random): readonly Row[] {
  const lines = readFileSync(join(folder, "tools.txt"), "utf8").split("\n");
  const templates = lines.filter((line) => line !== "" && !line.startsWith("#")).map(parseTool);
  const plain = templates.filter(
    ({ singles }) => !singles.some((text) => text.startsWith(WEB) || text.startsWith(MEMORY)),
  );
  const rows: Row[] = [];
  const add = (prompt: string, tools: readonly WireTool[], scenario: ToolScenario) => {
    rows.push({ id: `own-tool-${rows.length}`, source: "own-tools", prompt, tools, label: { scenario } });
  };
  for (const template of templates) {
    const others = plain.filter((other) => other !== template).map(({ tool }) => tool);
    for (let round = 0; round < SAMPLES; round++) {
      const company = [template.tool, ...Array.from({ length: round }, () => pick(others, random))];
      for (const text of template.singles) {
        add(expand(text.replace(/^(WEB|MEM) /, ""), lists, random), [...new Set(company)], scenarioOf(text));
      }
      for (const text of template.severals) {
        const isOther = text.startsWith(OTHER);
        add(expand(text.replace(OTHER, ""), lists, random), [...new Set(company)], isOther ? "optional" : "parallel");
      }
      const stranger = pick(
        plain.filter((other) => other !== template),
        random,
      );
      const unfit = [...new Set(company)].filter((tool) => tool !== stranger.tool);
      add(expand(pick(stranger.singles, random), lists, random), unfit, "optional");
    }
  }
  return rows.filter(({ tools, label }) => label.scenario !== "optional" || isPlain(tools ?? []));
}

/** A request that has nothing to do with a search engine or a shell may still be handed to it. */
function isPlain(tools: readonly WireTool[]): boolean {
  return tools.every(({ function: { name = "", description = "", parameters = null } = {} }) => {
    const tool = { name, description, parameters };
    return !isWebTool(tool) && !isMemoryTool(tool) && !isUniversalTool(tool);
  });
}

function scenarioOf(text: string): ToolScenario {
  if (text.startsWith(WEB)) return "web_search";
  return text.startsWith(MEMORY) ? "memory" : "single";
}

/** `name | description | fields | single requests | requests for several calls`, requests divided by `~`. */
function parseTool(line: string): ToolTemplate {
  const [name = "", description = "", fields = "", singles = "", severals = ""] = line
    .split("|")
    .map((cell) => cell.trim());
  const list = (cell: string) => cell.split("~").filter((text) => text !== "");
  const properties = Object.fromEntries(
    fields.split(",").map((field) => {
      const [key = "", type = "string"] = field.split(":");
      return [key, { type }];
    }),
  );
  const parameters = { type: "object", properties, required: Object.keys(properties).slice(0, 2) };
  return { tool: { function: { name, description, parameters } }, singles: list(singles), severals: list(severals) };
}
