// The fresh set: public rows on which nothing is chosen. They are measured before and after a piece of work, never read
// while rules, word lists or settings are made, and never trained on. Chosen in November 2026, before the work on stability;
// the opening turns came later, before the work on repeated values.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { ChatMessage } from "../../src/core/chat.ts";
import type { ToolScenario } from "../../src/core/model.ts";
import type { Label, Row, WireTool } from "../rows.ts";

/** Unpacked Python packages in one folder: bfcl-eval 2026.3.23, inspect-evals 0.26.0 and chatterbot-corpus 1.3.3. */
export function readFresh(packages: string): readonly Row[] {
  return [...readCalls(packages), ...readWriting(packages), ...readFacts(packages), ...readTalk(packages)];
}

/** Picks the rows of `uncommon-tiers` for the fresh set: those with an odd number. The others may be learned from. */
export function isFresh({ id, source }: Pick<Row, "id" | "source">): boolean {
  return source === "uncommon-tiers" && Number(id.split(":")[1]) % 2 === 1;
}

/** Requests of users of a function-calling service, with their own tools. Development knows the synthetic part only. */
const LIVE: Readonly<Record<string, ToolScenario>> = {
  live_simple: "single",
  live_multiple: "single",
  live_parallel: "parallel",
  live_parallel_multiple: "parallel",
  live_irrelevance: "optional",
};
const MEMORY_TOOLS = ["memory_kv", "memory_vector", "memory_rec_sum"];
/** Domains and numbers that development knows. */
const KNOWN_MEMORY = /customer|finance/;
const KNOWN_SEARCHES = 50;

/** A request of the function-calling sets; the first turn is what is asked. */
interface Call {
  readonly id: string;
  readonly question: readonly (readonly { readonly role: ChatMessage["role"]; readonly content: string }[])[];
  readonly function?: readonly WireTool["function"][];
}

function readCalls(packages: string): readonly Row[] {
  const folder = join(packages, "bfcl_eval/data");
  const read = (name: string) => readLines<Call>(join(folder, `BFCL_v4_${name}.json`));
  const tools = (name: string) => readLines<WireTool["function"]>(join(folder, `multi_turn_func_doc/${name}.json`));
  const live = Object.entries(LIVE).flatMap(([name, scenario]) =>
    read(name).map((call) => rowOf(call, call.function ?? [], { source: `bfcl-${name}`, scenario })),
  );
  const memory = read("memory")
    .filter(({ id }) => !KNOWN_MEMORY.test(id))
    .map((call, at) => {
      const offered = tools(MEMORY_TOOLS[at % MEMORY_TOOLS.length] as string);
      return rowOf(call, offered, { source: "bfcl-memory-fresh", scenario: "memory" });
    });
  const search = read("web_search")
    .slice(KNOWN_SEARCHES)
    .map((call) => rowOf(call, tools("web_search"), { source: "bfcl-web_search-fresh", scenario: "web_search" }));
  return [...live, ...memory, ...search, ...readTurns(folder, tools)];
}

/** Tools of an agent: twenty or more, of the programs that a conversation is about. */
const PROGRAMS: Readonly<Record<string, string>> = {
  GorillaFileSystem: "gorilla_file_system",
  VehicleControlAPI: "vehicle_control",
  TradingBot: "trading_bot",
  TravelAPI: "travel_booking",
  MessageAPI: "message_api",
  TwitterAPI: "posting_api",
  TicketAPI: "ticket_api",
  MathAPI: "math_api",
};
/** Development knows later turns of the conversations before this one. */
const KNOWN_CONVERSATIONS = 100;

/** Opening turns of conversations with agents, by how many calls their answer has. */
function readTurns(folder: string, tools: (name: string) => readonly WireTool["function"][]): readonly Row[] {
  const name = "BFCL_v4_multi_turn_base.json";
  const answers = new Map(
    readLines<{ id: string; ground_truth: readonly (readonly string[])[] }>(join(folder, "possible_answer", name)).map(
      ({ id, ground_truth }) => [id, ground_truth[0]?.length ?? 0],
    ),
  );
  const calls = readLines<Call & { readonly involved_classes: readonly string[] }>(join(folder, name));
  return calls.slice(KNOWN_CONVERSATIONS).map((call) => {
    const offered = call.involved_classes.flatMap((program) => tools(PROGRAMS[program] as string));
    const scenario = (answers.get(call.id) ?? 0) > 1 ? "parallel" : "single";
    return rowOf(call, offered, { source: "bfcl-turns-fresh", scenario });
  });
}

function rowOf(
  { id, question }: Call,
  tools: readonly WireTool["function"][],
  { source, scenario }: { readonly source: string; readonly scenario: ToolScenario },
): Row {
  const messages = question[0] ?? [];
  const prompt = messages.findLast(({ role }) => role === "user")?.content ?? "";
  const offered = tools.flatMap((tool) => (tool === undefined ? [] : [{ function: tool }]));
  return { id, source, prompt, messages, tools: offered, label: { scenario } };
}

/** Long briefs in English and Chinese: literature and arts are creative, everything else is writing. */
function readWriting(packages: string): readonly Row[] {
  const briefs = readLines<{ index: number; domain1: string; query: string }>(
    join(packages, "inspect_evals/writingbench/benchmark_all.jsonl"),
  );
  return briefs.map(({ index, domain1, query }) => {
    const category = domain1 === "Literature & Arts" ? "creative" : "writing";
    return plainRow(`writingbench:${index}`, "writingbench", query, { category, coding: false });
  });
}

/** Short questions about the world, many of them about numbers. */
function readFacts(packages: string): readonly Row[] {
  const file = join(packages, "inspect_evals/abstention_bench/data/freshqa/FreshQA_v12182024.csv");
  return readFileSync(file, "utf8")
    .split("\n")
    .slice(3)
    .flatMap((line) => {
      const match = /^(\d+),(?:TEST|DEV),(?:"((?:[^"]|"")*)"|([^,]*)),/.exec(line);
      const question = (match?.[2] ?? match?.[3] ?? "").replaceAll('""', '"');
      const label = { category: "simple_qa", coding: false };
      return question === "" ? [] : [plainRow(`freshqa:${match?.[1]}`, "freshqa", question, label)];
    });
}

const TALK_LANGUAGES = ["chinese", "italian", "japanese", "korean", "turkish", "russian", "hindi", "indonesian"];
const TALK_FILES = /^(?:greetings|conversations|emotion|botprofile)\.yml$/;

/** Small talk and questions about the bot outside English, in languages that development does not have. */
function readTalk(packages: string): readonly Row[] {
  const folder = join(packages, "chatterbot_corpus/data");
  return TALK_LANGUAGES.flatMap((language) => {
    const names = readdirSync(join(folder, language)).filter((name) => TALK_FILES.test(name));
    const openings = names.sort().flatMap((name) => {
      const { conversations } = parse(readFileSync(join(folder, language, name), "utf8")) as {
        conversations: readonly (readonly unknown[])[];
      };
      return conversations.map(([opening]) => String(opening));
    });
    const label = { category: "chitchat", coding: false, language };
    return [...new Set(openings)].map((opening, at) => plainRow(`talk:${language}:${at}`, "talk", opening, label));
  });
}

function plainRow(id: string, source: string, prompt: string, label: Label): Row {
  return { id, source: `fresh-${source}`, prompt, label };
}

export function readLines<T>(file: string): readonly T[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as T);
}
