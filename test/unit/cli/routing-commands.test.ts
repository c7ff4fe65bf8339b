// profiles, models and route: output, stored data and exit codes.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Arguments, readArguments } from "../../../src/cli/command/arguments.ts";
import type { Terminal } from "../../../src/cli/command/terminal.ts";
import { keys } from "../../../src/cli/keys.ts";
import { models } from "../../../src/cli/models.ts";
import { profiles } from "../../../src/cli/profiles.ts";
import { route } from "../../../src/cli/route.ts";
import { NO_CONSTRAINTS } from "../../../src/core/decision.ts";
import { readDebugRequest, writeDecision } from "../../../src/http/v1/routing-debug.ts";
import { decide } from "../../../src/routing/decide.ts";
import { type RecordedTerminal, recordTerminal } from "../../support/gateway/terminal.ts";
import { goodLoad } from "../config/workspace.ts";

type Command = (args: Arguments, terminal: Terminal) => Promise<number>;

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

async function run(command: Command, words: readonly string[], terminal: RecordedTerminal): Promise<Ran> {
  const code = await command(readArguments(["x", ...words]), terminal);
  return { code, out: terminal.takeOut(), said: terminal.takeSaid() };
}

describe("profiles", () => {
  it("are made, changed rule by rule, shown, listed and deleted", async () => {
    const terminal = recordTerminal();
    const go = (...words: string[]): Promise<Ran> => run(profiles, words, terminal);
    expect((await go("list")).said).toContain("No profiles yet");
    const made = await go(
      "set",
      "cheap",
      "--ceiling",
      "light",
      "--max-cost",
      "0.002",
      "--needs",
      "tools,json",
      "--json",
    );
    expect(made.code).toBe(0);
    const profile = JSON.parse(made.out) as { id: string };
    expect(profile).toMatchObject({
      name: "cheap",
      tierCeiling: "LIGHT",
      maxCostUsd: "0.002",
      capabilities: ["tools", "json"],
    });
    const changed = await go("set", "cheap", "--max-cost", "none", "--block", "gpt-4o-mini", "--code-quality", "1");
    expect(changed.said).toBe(
      `Updated ${profile.id} ("cheap"): ceiling LIGHT, needs tools json, code-quality 1, block gpt-4o-mini.\n`,
    );
    expect(JSON.parse((await go("show", profile.id, "--json")).out)).toMatchObject({
      maxCostUsd: null,
      codeQuality: 1,
    });
    expect((await go("set", "cheap", "--honour-model", "on")).said).toContain("honour-model on");
    expect(JSON.parse((await go("show", "cheap", "--json")).out)).toMatchObject({ honourModel: true, codeQuality: 1 });
    expect((await go("set", "cheap", "--honour-model", "off")).said).not.toContain("honour-model");
    expect((await go("set", "cheap", "--honour-model", "maybe")).code).not.toBe(0);
    await run(keys, ["create", "--name", "app", "--profile", profile.id], terminal);
    expect((await go("show", "cheap")).out).toMatch(/^keys +app$/m);
    expect((await go("list")).out).toContain("ceiling LIGHT");
    expect(await go("delete", "cheap")).toMatchObject({ code: 2, said: expect.stringContaining("--yes") });
    expect((await go("delete", "cheap", "--yes")).said).toContain("Refused from now on: app.");
    expect(await go("show", "cheap")).toMatchObject({ code: 1, said: expect.stringContaining("No profile 'cheap'") });
  });

  it("have a description; other changes keep it, none removes it", async () => {
    const terminal = recordTerminal();
    const go = (...words: string[]): Promise<Ran> => run(profiles, words, terminal);
    const described = async (): Promise<unknown> =>
      (JSON.parse((await go("show", "p", "--json")).out) as { description: unknown }).description;
    await go("set", "p", "--description", "For batch jobs");
    expect((await go("show", "p")).out).toMatch(/^description +For batch jobs$/m);
    await go("set", "p", "--floor", "NANO");
    expect(await described()).toBe("For batch jobs");
    expect(await go("set", "p", "--description", "two\nlines")).toMatchObject({
      code: 1,
      said: expect.stringContaining("one line"),
    });
    await go("set", "p", "--description", "none");
    expect(await described()).toBeNull();
  });

  it("are deleted only after a confirmation that names the keys they break", async () => {
    const questions: string[] = [];
    const ask = async (question: string): Promise<string> => {
      questions.push(question);
      return questions.length === 1 ? "n" : "y";
    };
    const terminal = recordTerminal({ ask });
    await run(profiles, ["set", "mine"], terminal);
    expect(await run(profiles, ["delete", "mine"], terminal)).toMatchObject({
      code: 1,
      said: "Nothing was changed.\n",
    });
    expect((await run(profiles, ["delete", "mine"], terminal)).code).toBe(0);
    expect(questions[0]).toMatch(/^Delete profile_\w+ \("mine"\)\?/);
  });

  it.each([
    [[], "Use: "],
    [["lsit"], "Did you mean 'list'?"],
    [["set"], "needs a profile name"],
    [["list", "extra"], "Unexpected argument"],
    [["set", "p", "--floor", "HUGE"], "--floor is one of NANO"],
    [["set", "p", "--max-cost", "-1"], "--max-cost is a number"],
    [["set", "p", "--bfcl-min", "101"], "from 0 to 100"],
    [["set", "p", "--chat-quality", "3"], "0, 1 or 2"],
    [["set", "p", "--needs", "wings"], "--needs is one of"],
    [["set", "p", "--allow", "no-such-model"], "Unknown model 'no-such-model'"],
    [["set", "p", "--flor", "NANO"], "Did you mean '--floor'?"],
    [["show", "p", "--yes"], "Unknown flag '--yes'"],
  ])("%j is wrong usage", async (words, said) => {
    const ran = await run(profiles, words, recordTerminal());
    expect(ran).toMatchObject({ code: 2, out: "", said: expect.stringContaining(said) });
  });

  it("of an unknown account are a failure", async () => {
    const ran = await run(profiles, ["list", "--account", "nobody"], recordTerminal());
    expect(ran).toMatchObject({ code: 1, said: expect.stringContaining("No account 'nobody'") });
  });
});

describe("models", () => {
  it("lists the catalogue, and a tier in the order it is tried", async () => {
    const terminal = recordTerminal();
    const all = await run(models, ["list"], terminal);
    expect(all.out).toMatch(/^ID +PROVIDER +TIER/);
    expect(all.said).toMatch(/\d+ models; \d+ usable/);
    const light = await run(models, ["list", "--tier", "light", "--json"], terminal);
    const { data } = JSON.parse(light.out) as {
      data: { id: string; tier: string; chains: { tier: string; place: number; of: number }[] }[];
    };
    expect(data.length).toBeGreaterThan(1);
    for (const [index, { chains }] of data.entries()) {
      const own = { tier: "LIGHT", place: index + 1, of: data.length };
      expect(chains.find(({ tier }) => tier === "LIGHT")).toMatchObject(own);
    }
    const table = await run(models, ["list", "--tier", "LIGHT"], terminal);
    expect(
      table.out
        .split("\n")
        .slice(1, 1 + data.length)
        .map((line) => line.split(" ")[0]),
    ).toEqual(data.map(({ id }) => id));
  });

  it.each([[[]], [["list", "x"]], [["list", "--tier", "HUGE"]]])("%j is wrong usage", async (words) => {
    expect(await run(models, words, recordTerminal())).toMatchObject({ code: 2, out: "" });
  });
});

describe("route", () => {
  it("says which tiers a cascade would ask, and why there is none", async () => {
    const tools = JSON.stringify([{ type: "function", function: { name: "look", parameters: {} } }]);
    const asked = ["What is 2+2?", "--cascade", "on"];
    expect((await run(route, asked, recordTerminal())).out).toMatch(/^ +Cascade +none: nothing can be checked/m);
    const { out } = await run(route, [...asked, "--tools", tools, "--json"], recordTerminal());
    const { decision } = JSON.parse(out) as { decision: { cascade: object } };
    expect(decision.cascade).toHaveProperty("checks", ["tool_calls"]);
    expect((await run(route, ["What is 2+2?"], recordTerminal())).out).not.toContain("Cascade");
  });

  it("prints the decision as a card", async () => {
    const { code, out } = await run(route, ["What is 2+2?"], recordTerminal());
    expect(code).toBe(0);
    for (const label of ["Tier", "Model", "Category", "Decided by", "Why", "Cost", "Baseline", "Chain"]) {
      expect(out).toMatch(new RegExp(`^ {2}${label} +\\S`, "m"));
    }
    expect(out).toMatch(/^ {2}Baseline +\S+ \(\$\S+ in, \$\S+ out per million tokens, price of 20\d\d-\d\d-\d\d\)$/m);
  });

  it("takes the controls and a saved profile", async () => {
    const terminal = recordTerminal();
    const decided = async (...flags: string[]): Promise<{ decision: Record<string, unknown> }> =>
      JSON.parse((await run(route, ["Hi there", "--json", ...flags], terminal)).out);
    expect((await decided("--floor", "complex")).decision).toMatchObject({ tier: "COMPLEX", profile: "auto" });
    expect((await decided("--max-cost", "1e-9")).decision.reasoning).toContain("ignored: no model qualifies");
    expect((await decided("--tier", "LIGHT")).decision).toMatchObject({ tier: "LIGHT", profile: "tier" });
    expect((await decided("--model", "gpt-4o-mini")).decision).toMatchObject({
      model: "gpt-4o-mini",
      profile: "direct",
    });
    await run(profiles, ["set", "high", "--floor", "STANDARD"], terminal);
    expect((await decided("--profile", "high")).decision).toMatchObject({ tier: "STANDARD" });
  });

  it("has a flag for every control, and decides as the debug endpoint's fields say", async () => {
    const turns = [{ role: "user", content: "Weather in Paris?" }];
    const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }];
    const flags = { floor: "SIMPLE", ceiling: "STANDARD", "max-cost": "0.5", "bfcl-min": "20", "code-quality": "1" };
    const more = { "chat-quality": "1", system: "Be brief.", "max-output": "50", profile: "mine" };
    const terminal = recordTerminal({ env: { SWITCHYARD_SESSION_MINUTES: "0" } });
    await run(profiles, ["set", "mine", "--block", "gpt-4o-mini"], terminal);
    const written = Object.entries({ ...flags, ...more }).map(([name, value]) => `--${name}=${value}`);
    const files = [`--messages=${JSON.stringify(turns)}`, `--tools=${JSON.stringify(tools)}`];
    const ran = await run(route, ["And in Rome?", "--json", ...written, ...files], terminal);
    expect(ran).toMatchObject({ code: 0, said: "" });
    const { catalog } = goodLoad({}).settings;
    const question = readDebugRequest({
      ...{ prompt: "And in Rome?", messages: turns, tools },
      ...{ service_tier_floor: "SIMPLE", service_tier_ceiling: "STANDARD", service_max_cost: 0.5 },
      ...{ service_bfcl_min: 20, service_code_quality: 1, service_chat_quality: 1 },
      ...{ system_prompt: "Be brief.", max_output_tokens: 50 },
    });
    const constraints = { ...NO_CONSTRAINTS, blockedModels: ["gpt-4o-mini"] };
    const decision = decide({ ...question, constraints, restingModels: new Map() }, catalog);
    expect(JSON.parse(ran.out).decision).toEqual(JSON.parse(JSON.stringify(writeDecision(decision, catalog))));
    expect(decision).toMatchObject({ toolScenario: expect.any(String), estimatedTokens: { output: 50 } });
  });

  it("reads tools and turns from files and standard input, and the prompt from there too", async () => {
    const tools = JSON.stringify([{ type: "function", function: { name: "search" } }]);
    const turns = JSON.stringify([{ role: "user", content: "Prove Fermat's last theorem, step by step." }]);
    const terminal = recordTerminal({ readInput: async () => tools });
    writeFileSync(join(terminal.cwd, "turns.json"), turns);
    const piped = await run(route, ["--messages", "turns.json", "--tools", "-", "--json"], terminal);
    const written = await run(route, ["--messages", turns, "--tools", tools, "--json"], terminal);
    expect(piped).toMatchObject({ code: 0, said: "" });
    expect(piped.out).toBe(written.out);
    const asked = recordTerminal({ readInput: async () => "What is 2+2?" });
    expect((await run(route, ["-"], asked)).out).toBe((await run(route, ["What is 2+2?"], asked)).out);
  });

  it.each([
    [[], 2, "The prompt is missing"],
    [["Hi", "--max-cost", "much"], 2, "--max-cost is a number"],
    [["Hi", "--profile", "none-such"], 2, "No profile 'none-such'"],
    [["-"], 2, "The prompt is missing"],
    [["Hi", "--floor", "HUGE"], 2, "--floor is one of NANO"],
    [["Hi", "--code-quality", "3"], 2, "0, 1 or 2"],
    [["Hi", "--max-output", "0.5"], 2, "a whole number"],
    [["Hi", "--tier", "NANO", "--model", "gpt-4o-mini"], 2, "cannot be combined"],
    [["Hi", "--tools", "no-such.json"], 2, "cannot be read"],
    [["Hi", "--tools", "[{"], 2, "--tools is not JSON"],
    [["Hi", "--tools", "[1]"], 2, "tools"],
    [["Hi", "--messages", '[{"role":"king"}]'], 2, "role"],
    [["Hi", "--model", "none-such"], 1, "isn't available"],
  ])("%j ends with %s", async (words, code, said) => {
    expect(await run(route, words, recordTerminal())).toMatchObject({
      code,
      out: "",
      said: expect.stringContaining(said),
    });
  });
});
