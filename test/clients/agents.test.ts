// Coding agents, unchanged, through a session of three turns that really edits a file: read it, change it, say so. Run
// by `npm run test:clients`, which fetches the programs first.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fillAskedSchema, type Houses, openHouses, toolNames } from "../support/gateway/acting.ts";
import type { Act } from "../support/gateway/acting-newer.ts";
import type { ReceivedRequest } from "../support/providers/fake-provider.ts";
import type { Json } from "../support/providers/streams.ts";
import { AGENTS, type Agent, type Edit } from "./agents.ts";

const PROGRAMS = process.env.SWITCHYARD_CLIENTS ?? "";
const DONE = "The colour is blue now.";
const TASK = "Change the colour in notes.txt from red to blue.";

let houses: Houses;
let session: (body: Json) => Act = () => ({ kind: "text", text: "Nothing to do." });
beforeAll(async () => {
  houses = await openHouses((body) => session(body));
});
afterAll(() => houses.close());

const RUNS = AGENTS.flatMap((agent) =>
  (["chat", "native", "responses", "gemini"] as const).map((house) => ({ agent, house, name: agent.name })),
);

describe.each(RUNS)("$name on $house", ({ agent, house }) => {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-client-"));
  const place = { gateway: { url: "", key: "" }, home: join(folder, "home"), work: join(folder, "work") };
  const file = join(place.work, "notes.txt");
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("reads a file, edits it and says so", async () => {
    mkdirSync(place.home);
    mkdirSync(place.work);
    writeFileSync(file, "colour: red\n");
    const edit = { file, before: "red", after: "blue" };
    const seen = follow(agent, edit);
    const provider = houses.providers[house];
    provider.requests.length = 0;
    const { code, output } = await run(agent, { ...place, gateway: houses[house] });
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining(DONE) });
    expect(readFileSync(file, "utf8")).toBe("colour: blue\n");
    expect(seen.turns).toEqual([0, 1, 2]);
    expect(seen.results[1]).toContain("colour: red");
    // Some also ask small things of their own beside the session, which need not stream.
    const isStreamed = ({ body, path }: ReceivedRequest): boolean => body.stream === true || path.includes(":stream");
    expect(provider.requests.filter(isStreamed).length).toBeGreaterThanOrEqual(seen.turns.length);
  });
});

/** Plays the agent's steps, one for each turn. What it asks beside them (titles, checks) gets a short answer. */
function follow(agent: Agent, edit: Edit): { readonly turns: number[]; readonly results: string[] } {
  const seen = { turns: [] as number[], results: [] as string[] };
  session = (body) => {
    const tools = toolNames(body);
    const steps = agent.steps(edit, tools);
    if (!tools.includes(steps[0]?.tool ?? "")) return { kind: "text", text: fillAskedSchema(body) ?? "Colours" };
    const results = resultsOf(body);
    const step = steps[results.length];
    seen.turns.push(results.length);
    seen.results.push(results.join("\n"));
    return step === undefined
      ? { kind: "text", text: DONE }
      : { kind: "calls", calls: [{ name: step.tool, input: step.input }] };
  };
  return seen;
}

/** The results of tools in the conversation, as text, in either format. */
function resultsOf({ messages }: Json): readonly string[] {
  return (messages as readonly Json[]).flatMap(({ role, content }) => {
    if (role === "tool") return [JSON.stringify(content)];
    const blocks = Array.isArray(content) ? (content as readonly Json[]) : [];
    return blocks.filter(({ type }) => type === "tool_result").map((block) => JSON.stringify(block.content));
  });
}

/** Runs the program to its end. Whatever it sends anywhere but to loopback meets a closed port. */
function run(agent: Agent, place: Parameters<Agent["prepare"]>[0]): Promise<{ code: number | null; output: string }> {
  const { args, env } = agent.prepare(place, TASK);
  const child = spawn(join(PROGRAMS, "node_modules", ".bin", agent.program), args, {
    cwd: place.work,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH,
      HOME: place.home,
      HTTPS_PROXY: "http://127.0.0.1:9",
      HTTP_PROXY: "http://127.0.0.1:9",
      NO_PROXY: "127.0.0.1,localhost",
      ...env,
    },
  });
  const pieces: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes: Buffer) => pieces.push(bytes));
  return new Promise((resolve) =>
    child.on("close", (code) => resolve({ code, output: Buffer.concat(pieces).toString("utf8") })),
  );
}
