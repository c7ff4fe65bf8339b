// Tool requests of public repositories: each with the tools offered, by how many calls its answer has, and again with the
// fitting tools taken away.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readLines } from "../fresh/fresh.ts";
import { makeRandom, pick, type Random, shuffle } from "../random.ts";
import type { Row, WireTool } from "../rows.ts";

type OfferedTool = NonNullable<WireTool["function"]>;

/** A request, the tools that its answer calls, and others that might be offered beside them. */
interface Asked {
  readonly source: string;
  readonly prompt: string;
  readonly fitting: readonly OfferedTool[];
  readonly others: readonly OfferedTool[];
  readonly calls: number;
}

const SEED = 11;
/** Other tools beside the fitting ones; several requests of applications have two or three. */
const COMPANY = [0, 0, 1, 1, 2, 3, 4] as const;
/** Rows of one source and scenario: more of them would say the same again. */
const ROWS_MAX = 400;

/** `folder` has a checkout of each repository under the repository's name. */
export function readCheckouts(folder: string): readonly Row[] {
  const random = makeRandom(SEED);
  const asked = [...readSeal(folder, random), ...readAlpaca(folder), ...readMeta(folder, random), ...readUltra(folder)];
  const rows = [...asked.flatMap((one, at) => rowsOf(one, at, random)), ...readAce(folder)];
  shuffle(rows, random);
  const counts = new Map<string, number>();
  return rows.filter(({ source, label }) => {
    const group = `${source} ${label.scenario}`;
    const count = (counts.get(group) ?? 0) + 1;
    counts.set(group, count);
    return count <= ROWS_MAX;
  });
}

/** With its tools, and every second one with others only. */
function rowsOf({ source, prompt, fitting, others, calls }: Asked, at: number, random: Random): readonly Row[] {
  const company = Array.from({ length: others.length === 0 ? 0 : pick(COMPANY, random) }, () => pick(others, random));
  const offered = [...new Set([...fitting, ...company])];
  shuffle(offered, random);
  const rows: Row[] = [rowOf(`${source}:${at}`, { source, prompt, tools: offered, calls })];
  const strange = [...new Set([...company, ...(others.length === 0 ? [] : [pick(others, random)])])];
  if (at % 2 === 0 && strange.length > 0) {
    rows.push(rowOf(`${source}:${at}:without`, { source, prompt, tools: strange, calls: 0 }));
  }
  return rows;
}

interface Offer {
  readonly source: string;
  readonly prompt: string;
  readonly tools: readonly OfferedTool[];
  readonly calls: number;
}

function rowOf(id: string, { source, prompt, tools, calls }: Offer): Row {
  const scenario = calls === 0 ? "optional" : calls === 1 ? "single" : "parallel";
  return { id, source, prompt, tools: tools.map((tool) => ({ function: tool })), label: { scenario } };
}

interface AceRow {
  readonly id: string;
  readonly question: string;
  readonly function: readonly (OfferedTool & { readonly arguments?: OfferedTool["parameters"] })[];
}

const ACE_FILES = ["bool", "enum", "list", "number", "object_deep", "object_short"].map((kind) => `atom_${kind}`);
const ACE_PLAIN = [...ACE_FILES, "single_turn_parallel_function", "single_turn_single_function", "similar_api"];

/** ACEBench in English and Chinese: requests without earlier turns. */
function readAce(folder: string): readonly Row[] {
  return ["en", "zh"].flatMap((language) => {
    const data = join(folder, `ACEBench/data_all/data_${language}`);
    const plain = [...ACE_PLAIN, "preference"].flatMap((name) => {
      const answers = new Map(
        readLines<{ id: string; ground_truth: object }>(join(data, `possible_answer/data_normal_${name}.json`)).map(
          ({ id, ground_truth }) => [id, Object.keys(ground_truth).length],
        ),
      );
      return readLines<AceRow>(join(data, `data_normal_${name}.json`)).map(
        (row) => [row, answers.get(row.id) ?? 1] as const,
      );
    });
    const strange = readLines<AceRow>(join(data, "data_special_irrelevant.json")).map((row) => [row, 0] as const);
    return [...plain, ...strange]
      .filter(([{ question }]) => !/\n(?:system|user):/.test(question))
      .map(([{ id, question, function: tools }, calls]) =>
        rowOf(`acebench-${language}:${id}`, {
          source: `acebench-${language}`,
          prompt: question.replace(/^user:\s*/, "").trim(),
          tools: tools.map(({ arguments: fields, ...tool }) => ({
            ...tool,
            parameters: tool.parameters ?? fields ?? null,
          })),
          calls,
        }),
      );
  });
}

interface SealTool {
  readonly api_name: string;
  readonly api_description: string;
  readonly field: string;
  readonly parameters: Readonly<Record<string, { readonly type: string; readonly description: string }>>;
  readonly required: readonly string[];
}

const SEAL_TYPES: Readonly<Record<string, string>> = {
  str: "string",
  int: "integer",
  float: "number",
  bool: "boolean",
};

/** Seal-Tools: the others are of the same field. */
function readSeal(folder: string, random: Random): readonly Asked[] {
  const data = join(folder, "Seal-Tools/Seal-Tools_Dataset");
  const tools = readLines<SealTool>(join(data, "tool.jsonl"));
  const offered = new Map(tools.map((tool) => [tool.api_name, sealTool(tool)]));
  const fields = groupByField(tools);
  const fieldOf = new Map(tools.map(({ api_name, field }) => [api_name, field]));
  return ["dev", "test_in_domain", "test_out_domain"].flatMap((name) => {
    const rows = readLines<{ query: string; calling: readonly { api: string }[] }>(join(data, `${name}.jsonl`));
    return rows.map(({ query, calling }) => {
      const called = [...new Set(calling.map(({ api }) => api))];
      const near = called.flatMap((api) => fields.get(fieldOf.get(api) ?? "") ?? []);
      const others = near.filter((api) => !called.includes(api));
      const far = Array.from({ length: 3 }, () => pick(tools, random).api_name).filter((api) => !called.includes(api));
      const find = (apis: readonly string[]) => apis.flatMap((api) => offered.get(api) ?? []);
      return {
        source: "seal-tools",
        prompt: query,
        fitting: find(called),
        others: find([...others, ...far]),
        calls: calling.length,
      };
    });
  });
}

function groupByField(tools: readonly SealTool[]): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  for (const { api_name, field } of tools) fields.set(field, [...(fields.get(field) ?? []), api_name]);
  return fields;
}

function sealTool({ api_name, api_description, parameters, required }: SealTool): OfferedTool {
  const properties = Object.fromEntries(
    Object.entries(parameters).map(([name, { type, description }]) => [
      name,
      { type: SEAL_TYPES[type] ?? type, description },
    ]),
  );
  return { name: api_name, description: api_description, parameters: { type: "object", properties, required } };
}

interface AlpacaApi {
  readonly Function_Description: Readonly<Record<string, string>>;
  readonly Instructions: readonly string[];
  readonly Golden_Answers: readonly (readonly { readonly Action: string }[])[];
}

/** ToolAlpaca's evaluation: applications with several functions each. */
function readAlpaca(folder: string): readonly Asked[] {
  return ["eval_real", "eval_simulated"].flatMap((name) => {
    const file = join(folder, `ToolAlpaca/data/${name}.json`);
    const apis = JSON.parse(readFileSync(file, "utf8")) as readonly AlpacaApi[];
    return apis.flatMap(({ Function_Description: functions, Instructions: asks, Golden_Answers: answers }) => {
      const tools = Object.entries(functions).filter(([action]) => action !== "components");
      return asks.flatMap((prompt, at) => {
        const called = new Set((answers[at] ?? []).map(({ Action: action }) => action));
        const pickTools = (isCalled: boolean) =>
          tools.filter(([action]) => called.has(action) === isCalled).map(([action, text]) => alpacaTool(action, text));
        if (called.size === 0 || pickTools(true).length === 0) return [];
        const calls = (answers[at] ?? []).length;
        return [{ source: "tool-alpaca", prompt, fitting: pickTools(true), others: pickTools(false), calls }];
      });
    });
  });
}

/** The description holds the parameters: `{"name": "Required. type. Words."}`. */
function alpacaTool(name: string, text: string): OfferedTool {
  const [description = "", fields = "{}"] = text.split("\nOutput:")[0]?.split("\nParameters:") ?? [];
  const parsed = Object.entries(JSON.parse(fields) as Record<string, string>);
  const properties = Object.fromEntries(
    parsed.map(([field, words]) => {
      const plain = words.replace(/^Required\.\s*/, "");
      return [field, { type: /^[a-z]+/i.exec(plain)?.[0].toLowerCase() ?? "string", description: plain }];
    }),
  );
  const required = parsed.filter(([, words]) => words.startsWith("Required")).map(([field]) => field);
  return { name, description, parameters: { type: "object", properties, required } };
}

/** MetaTool: plugins of an assistant, described without parameters. */
function readMeta(folder: string, random: Random): readonly Asked[] {
  const data = join(folder, "MetaTool/dataset");
  const read = (name: string) => JSON.parse(readFileSync(join(data, name), "utf8"));
  const described: Record<string, string> = { ...read("plugin_des.json"), ...read("big_tool_des.json") };
  const tools = Object.entries(described).map(([name, description]) => ({ name, description, parameters: null }));
  const find = (names: readonly string[]) => tools.filter(({ name }) => names.includes(name));
  const ask = (prompt: string, names: readonly string[]): Asked => {
    const others = Array.from({ length: 5 }, () => pick(tools, random)).filter(({ name }) => !names.includes(name));
    return { source: "metatool", prompt, fitting: find(names), others, calls: names.length };
  };
  const several = (read("data/multi_tool_query_golden.json") as { query: string; tool: string[] }[]).map(
    ({ query, tool }) => ask(query, tool),
  );
  const lines = readFileSync(join(data, "data/all_clean_data.csv"), "utf8").split("\n").slice(1);
  const single = lines.flatMap((line, at) => {
    const [, prompt = "", name = ""] = /^"?(.*?)"?,([^,]+)$/.exec(line.trim()) ?? [];
    return at % 20 === 0 && described[name] !== undefined ? [ask(prompt, [name])] : [];
  });
  return [...single, ...several].filter(({ fitting, calls }) => fitting.length === calls);
}

interface UltraRow {
  readonly question: string;
  readonly toolset: readonly (OfferedTool & { readonly arguments?: OfferedTool["parameters"] })[];
  readonly reference: readonly { readonly tool: string }[];
}

/** UltraTool in English and Chinese. Others are the tools of the next requests. */
function readUltra(folder: string): readonly Asked[] {
  return ["English", "Chinese"].flatMap((language) => {
    const rows = readLines<UltraRow>(join(folder, `UltraTool/data/${language}-dataset/test_set/tool_usage.json`));
    const toolsOf = ({ toolset }: UltraRow) =>
      toolset.map(({ arguments: fields, name, description }) => ({ name, description, parameters: fields ?? null }));
    return rows.map((row, at) => {
      const fitting = toolsOf(row) as OfferedTool[];
      const named = new Set(fitting.map(({ name }) => name));
      const next = rows.slice(at + 40, at + 44).flatMap((other) => toolsOf(other) as OfferedTool[]);
      const others = next.filter(({ name }) => !named.has(name));
      const source = language === "English" ? "ultratool-en" : "ultratool-zh";
      return { source, prompt: row.question.trim(), fitting, others, calls: row.reference.length };
    });
  });
}
