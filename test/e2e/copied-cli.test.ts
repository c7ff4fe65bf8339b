// Commands that the playground copies, run by a shell: every word arrives as it was typed, and the command decides as
// the server does.

import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ensureBuild } from "../../scripts/setup.mjs";
import { readArguments } from "../../src/cli/command/arguments.ts";
import { writeCli } from "../../ui/kit/cli-text.ts";
import { chatBodyOf, type Draft, EMPTY_DRAFT, questionOf } from "../../ui/parts/playground-draft.ts";
import { startGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { fc } from "../support/property.ts";

const ROOT = join(import.meta.dirname, "../..");
const runFile = promisify(execFile);
const NOBODY = { command: "switchyard route", profile: null, account: null };

const textOf = (draft: Partial<Draft>): string => writeCli(chatBodyOf({ ...EMPTY_DRAFT, ...draft }), NOBODY);

describe("a copied command", () => {
  test("has every control of the playground as a flag", () => {
    const draft: Draft = {
      ...EMPTY_DRAFT,
      prompt: "It's 5 o'clock",
      system: "Be brief.",
      mode: "tier",
      tier: "LIGHT",
      controls: {
        ...{ tierFloor: "SIMPLE", tierCeiling: "STANDARD", codeQuality: "2", chatQuality: "0" },
        ...{ maxCostUsd: "0.01", toolScoreMin: "70", hostOrder: "fastest", escalate: "eager" },
      },
      cap: "300",
    };
    const under = { command: "npm start -- route", profile: "profile_1", account: "acc_2" };
    expect(writeCli(chatBodyOf(draft), under).split(" \\\n  ")).toEqual([
      "npm start -- route",
      "--profile profile_1",
      "--account acc_2",
      "--tier LIGHT",
      "--floor SIMPLE",
      "--ceiling STANDARD",
      "--max-cost 0.01",
      "--bfcl-min 70",
      "--code-quality 2",
      "--chat-quality 0",
      "--host-order fastest",
      "--escalate eager",
      "--max-output 300",
      "--system 'Be brief.'",
      String.raw`'It'\''s 5 o'\''clock'`,
    ]);
  });

  test("brings every word through the shell as it was typed", () => {
    const words = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string(),
      fc.constantFrom("-", "--", "-h", "--json", "$HOME `id` \\ \"'\n!!", "a=b", "'", "\\'", "*", "~", "#x", "é🙂"),
    );
    const typed = words.map((text) => text.replaceAll("\0", ""));
    const benches = fc.sample(fc.record({ prompt: typed, system: typed, turn: typed }), 150);
    const given = benches.map(({ prompt, system, turn }) => ({
      prompt,
      system,
      turns: turn === "" ? [] : [{ role: "user" as const, content: turn }],
    }));
    // In the place of the program: whatever it is given, each after a 0 byte, and a line of its own at the end.
    const shim = "switchyard() { printf '%s\\0' \"$@\"; printf '\\1'; }\n";
    const script = shim + given.map(textOf).join("\n");
    const seen = execFileSync("sh", ["-s"], { input: script, encoding: "utf8" }).split("\x01").slice(0, -1);
    const read = seen.map((each) => readArguments(each.split("\0").slice(0, -1)));
    expect(read.map(whatArrived)).toEqual(given.map(whatWasMeant));
  });
});

interface Meant {
  readonly prompt: string;
  readonly system: string;
  readonly turns: Draft["turns"];
}

/** As the command reads it: the prompt is the newest turn. */
function whatArrived({ command, words, flags }: ReturnType<typeof readArguments>): unknown {
  const earlier = flags.messages === undefined ? [] : (JSON.parse(flags.messages) as Draft["turns"]);
  const turns = words.length === 0 ? earlier : [...earlier, { role: "user", content: words.join(" ") }];
  return { command, system: flags.system ?? "", turns };
}

function whatWasMeant({ prompt, system, turns }: Meant): unknown {
  return { command: "route", system, turns: [...turns, { role: "user", content: prompt }] };
}

describe("decides as the server does", () => {
  let gateway: TestGateway;
  let folder: string;
  beforeAll(async () => {
    await ensureBuild();
    gateway = await startGateway();
    folder = mkdtempSync(join(tmpdir(), "switchyard-copied-"));
    const program = join(ROOT, "bin", "switchyard.mjs");
    const shim = `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`;
    writeFileSync(join(folder, "switchyard"), shim, { mode: 0o755 });
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await gateway.stop();
  });

  const tools = JSON.stringify([
    { type: "function", function: { name: "get_weather", description: "It's the weather" } },
  ]);
  const turns = [
    { role: "user" as const, content: 'He said "hi" & left' },
    { role: "assistant" as const, content: "Who's \\he\\?" },
  ];
  test.each<[string, Partial<Draft>]>([
    ["a plain prompt", { prompt: "What's $HOME, `really`?\nAnd why!" }],
    ["bounds and sliders", { prompt: "Refactor this function", controls: { tierFloor: "LIGHT", codeQuality: "2" } }],
    [
      "tools and a score",
      { prompt: "Weather in Rome?", tools, cap: "120", controls: { toolScoreMin: "60", maxCostUsd: "0.05" } },
    ],
    ["a conversation", { prompt: "--and now?", system: "-Be brief.", turns }],
    ["a model by name", { prompt: "-", mode: "direct", model: "gpt-5-nano" }],
    ["a tier", { prompt: "Hi", mode: "tier", tier: "COMPLEX", controls: { chatQuality: "0" } }],
  ])("with %s", async (_, given) => {
    const draft = { ...EMPTY_DRAFT, ...given };
    const answer = await gateway.post("/v1/routing/debug", questionOf(draft));
    const { decision } = (await answer.json()) as { decision: object };
    expect(answer.status).toBe(200);
    const text = textOf(draft).replace("route", "route --json");
    const { stdout } = await runFile("sh", ["-c", text], {
      cwd: folder,
      encoding: "utf8",
      env: { PATH: `${folder}:${process.env.PATH}` },
    });
    // The server adds what the gateway would change on the way to the provider, which the command does not know.
    expect(decision).toMatchObject((JSON.parse(stdout) as { decision: object }).decision);
  });
});
