// What the log's page computes: filters in words, lines that come live, and a request as curl.

import { execFileSync } from "node:child_process";
import { describe, expect, test, vi } from "vitest";
import { createFormats } from "../../../src/formats/registry.ts";

vi.stubGlobal("location", { pathname: "/requests", search: "", hash: "", origin: "http://here" });
vi.stubGlobal("history", { pushState() {}, replaceState() {} });
const { describeFilter } = await import("../../../ui/pages/requests/filter-names.ts");
const { withLive } = await import("../../../ui/pages/requests/tail.ts");
const { curlOf } = await import("../../../ui/pages/requests/curl.ts");
type Line = Parameters<typeof withLive>[0][number];

const profiles = new Map([["profile_1", "budget"]]);
const groups = new Map([["team", new Map([["team_1", "Research"]])]]);
const NAMES = { keyName: "production", profiles, groups };

test.each([
  ["status", "error", "Errors"],
  ["status", "401,404", "Status 401,404"],
  ["tier", "none", "No tier"],
  ["model", "gpt-5", "Model gpt-5"],
  ["key", "key_1", "Key production"],
  ["keyProfile", "profile_1", "Profile budget"],
  ["keyProfile", "none", "Keys without a profile"],
  ["team", "team_1", "Team Research"],
  ["team", "team_2", "Team team_2"],
  ["member", "none", "No member"],
  ["profile", "direct", "Routing: Fixed model"],
  ["costFrom", "0.001", "Min cost $0.001"],
  ["adjusted", "true", "Tier adjusted"],
  ["q", "req_7", "“req_7”"],
])("%s=%s reads %s", (name, value, told) => {
  expect(describeFilter(name, value, NAMES)).toBe(told);
});

test("live lines stand above the read ones, each once, newest first", () => {
  const line = (id: string): Line => ({ id }) as Line;
  const merged = withLive([line("r5"), line("r3")], [line("r4"), line("r3"), line("r1")]);
  expect(merged.map(({ id }) => id)).toEqual(["r5", "r4", "r3", "r1"]);
});

describe("a request as curl", () => {
  const asked = { route: "/v1/chat/completions", stream: false, content: null, decision: null, model: null };
  /** The words that a shell makes of it. */
  const words = (command: string): readonly string[] =>
    execFileSync("sh", ["-c", `curl() { for word; do printf '%s\\0' "$word"; done; }\n${command}`], {
      env: { SWITCHYARD_KEY: "sk-service-x" },
      encoding: "utf8",
    }).split("\0");

  test("is the body as it was kept, whatever quotes are in it", () => {
    const request = `{"model":"auto","messages":[{"role":"user","content":"it's \\"$HOME\\" \`ls\`"}]}`;
    const content = { request, isRequestCut: false, answer: "", isAnswerCut: false };
    const given = words(curlOf({ ...asked, content }, "http://here"));
    expect(given[0]).toBe("http://here/v1/chat/completions");
    expect(given).toContain("Authorization: Bearer sk-service-x");
    expect(given.at(-2)).toBe(request);
  });

  test("has the routing that was asked for where the body was not kept or was cut", () => {
    const controls = { profile: "tier", forcedTier: "LIGHT", tierFloor: null, maxCostUsd: 0.01 } as const;
    const decision = { controls } as unknown as Parameters<typeof curlOf>[0]["decision"];
    const content = { request: '{"model":', isRequestCut: true, answer: "", isAnswerCut: false };
    const command = curlOf({ ...asked, route: "/v1/messages", stream: true, decision, content }, "http://here");
    expect(JSON.parse(words(command).at(-2) ?? "")).toMatchObject({
      model: "auto",
      max_tokens: 1024,
      stream: true,
      service_profile: "tier",
      service_tier: "LIGHT",
      service_max_cost: 0.01,
    });
    expect(command).toContain("anthropic-version");
  });

  test("runs nothing that a client wrote as the name of a model", () => {
    const model = "x;$(echo a)`echo b` 'c' $& \\";
    const decision = { controls: { model } } as unknown as Parameters<typeof curlOf>[0]["decision"];
    const route = "/v1beta/models/{model}:generateContent";
    const given = words(curlOf({ ...asked, route, decision }, "http://here"));
    expect(given[0]).toBe(`http://here/v1beta/models/${model}:generateContent`);
  });

  test("goes to the endpoint that was called, and to chat for the playground's own", () => {
    const sent = (route: string): readonly unknown[] => {
      const given = words(curlOf({ ...asked, route }, "http://here"));
      return [given[0], JSON.parse(given.at(-2) ?? "")];
    };
    const completion = { model: "auto", prompt: "YOUR_PROMPT" };
    expect(sent("/v1/completions")).toEqual(["http://here/v1/completions", completion]);
    const embedded = words(curlOf({ ...asked, route: "/v1/embeddings", model: "small" }, "http://here"));
    expect(JSON.parse(embedded.at(-2) ?? "")).toEqual({ model: "small", input: "YOUR_TEXT" });
    const content = { contents: [{ role: "user", parts: [{ text: "YOUR_PROMPT" }] }] };
    expect(sent("/v1beta/models/{model}:generateContent")).toEqual([
      "http://here/v1beta/models/auto:generateContent",
      content,
    ]);
    expect(sent("/api/playground/run")[0]).toBe("http://here/v1/chat/completions");
  });

  test("knows every path of every format that ships", () => {
    const routes = createFormats().clients.flatMap(({ paths }) => paths.routes);
    expect(routes.length).toBeGreaterThan(8);
    for (const { path, example } of routes) {
      const given = words(curlOf({ ...asked, route: path }, "http://here"));
      expect(given[0]).toBe(`http://here${path.replace("{model}", "auto")}`);
      expect(JSON.parse(given.at(-2) ?? "")).toMatchObject(example);
    }
  });
});
