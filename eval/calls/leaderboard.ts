// Further tool requests to learn from: parts of the package bfcl-eval that the fresh set does not use, and requests whose
// fitting tool was taken away, so that only others of the same field are left.

import { join } from "node:path";
import type { ToolScenario } from "../../src/core/model.ts";
import { readLines } from "../fresh/fresh.ts";
import { makeRandom, pick } from "../random.ts";
import type { Row, WireTool } from "../rows.ts";

type OfferedTool = NonNullable<WireTool["function"]>;

interface Call {
  readonly id: string;
  readonly question: readonly unknown[] | string;
  readonly function: readonly OfferedTool[] | string;
}

const PLAIN: Readonly<Record<string, ToolScenario>> = {
  exec_simple: "single",
  exec_multiple: "single",
  exec_parallel: "parallel",
  exec_parallel_multiple: "parallel",
  rest: "single",
  sql: "single",
};
const SEED = 5;
/** Strange tools beside a question that needs none: mostly one. */
const COMPANY = [1, 1, 2, 3];

/** `packages` is the folder of unpacked Python packages that eval/fresh/fresh.ts describes. */
export function readFurtherCalls(packages: string): readonly Row[] {
  const folder = join(packages, "bfcl_eval/data");
  const unused = join(folder, "unused_datasets");
  const plain = Object.entries(PLAIN).flatMap(([name, scenario]) =>
    readCalls(join(unused, "question"), name).map((call) => rowOf(call, `bfcl-${name}`, scenario)),
  );
  return [
    ...plain,
    ...withoutFitting(folder, "multiple", folder),
    ...withoutFitting(join(unused, "question"), "exec_multiple", unused),
    ...readTalk(join(unused, "question")),
  ];
}

function readCalls(folder: string, name: string): readonly Call[] {
  return readLines<Call>(join(folder, `BFCL_v4_${name}.json`));
}

/** Requests without the tool that answers them, where others are left. */
function withoutFitting(folder: string, name: string, answers: string): readonly Row[] {
  const file = join(answers, "possible_answer", `BFCL_v4_${name}.json`);
  const fitting = new Map(
    readLines<{ id: string; ground_truth: readonly (string | Record<string, unknown>)[] }>(file).map(
      ({ id, ground_truth }) => [id, ground_truth.flatMap(toolsCalled)] as const,
    ),
  );
  return readCalls(folder, name).flatMap((call) => {
    const left = toolsOf(call).filter((tool) => !fitting.get(call.id)?.includes(tool.name ?? ""));
    return left.length === 0 ? [] : [rowOf({ ...call, function: left }, `bfcl-${name}-without`, "optional")];
  });
}

/** `name(arguments)`, or an object with the name as its key. */
function toolsCalled(answer: string | Record<string, unknown>): readonly string[] {
  return typeof answer === "string" ? [answer.slice(0, answer.indexOf("("))] : Object.keys(answer);
}

/** Questions that came without any tool, beside tools of other requests. */
function readTalk(folder: string): readonly Row[] {
  const random = makeRandom(SEED);
  const tools = ["exec_simple", "exec_multiple"].flatMap((name) => readCalls(folder, name).flatMap(toolsOf));
  return readCalls(folder, "chatable").map((call, at) => {
    const offered = Array.from({ length: pick(COMPANY, random) }, () => pick(tools, random));
    return rowOf({ ...call, id: `chatable_${at}`, function: [...new Set(offered)] }, "bfcl-chatable", "optional");
  });
}

function toolsOf({ function: tools }: Call): readonly OfferedTool[] {
  return typeof tools === "string" ? [] : tools;
}

function rowOf(call: Call, source: string, scenario: ToolScenario): Row {
  const tools = toolsOf(call).map((tool) => ({ function: tool }));
  return { id: `${source}:${call.id}`, source, prompt: promptOf(call), tools, label: { scenario } };
}

/** A text, or messages, or turns of messages; the last human message of the first turn is what is asked. */
function promptOf({ question }: Call): string {
  if (typeof question === "string") return question;
  const messages = (Array.isArray(question[0]) ? question[0] : question) as readonly {
    role: string;
    content: string;
  }[];
  return messages.findLast(({ role }) => role === "user")?.content ?? "";
}
