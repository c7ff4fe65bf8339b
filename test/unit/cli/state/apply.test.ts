// switchyard apply on a running gateway: plan, apply, nothing at the second time, drift, removal, and what stops it.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readArguments } from "../../../../src/cli/command/arguments.ts";
import { apply } from "../../../../src/cli/state/apply.ts";
import { ADMIN_TOKEN, startGateway, type TestGateway } from "../../../support/gateway/gateway.ts";
import { type RecordedTerminal, recordTerminal } from "../../../support/gateway/terminal.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ database: "file" });
});
afterAll(() => gateway.stop());

const STATE = `
configuration:
  providers: { openai: { apiKey: "\${OPENAI_KEY}" } }
  tiers: { SIMPLE: [gpt-6-luna] }
  logging: { retentionDays: 90 }
profiles:
  - { name: cheap, description: For tests, tierCeiling: LIGHT, allowedModels: [gpt-6-luna, gpt-6-sol], maxCostUsd: 0.5 }
teams:
  - { name: ranking, parent: search }
  - { name: search, profile: cheap, tierCeiling: STANDARD }
keys:
  - { name: search-api, team: ranking, profile: cheap, requestsPerMinute: 120, spendLimitUsd: 20, spendReset: monthly, expiresAt: "2099-01-01T00:00:00Z" }
budgets:
  - { name: Everything, scope: account, amountUsd: "100.50", period: month, timeZone: Europe/Berlin }
  - { name: Search, scope: team, value: search, amountUsd: 40, period: week, hard: false }
`;

const SECRET = "sk-a-long-key-of-openai-7777";

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

async function run(text: string, ...words: readonly string[]): Promise<Outcome> {
  const env = { SWITCHYARD_ADMIN_TOKEN: ADMIN_TOKEN, OPENAI_KEY: SECRET };
  const terminal: RecordedTerminal = recordTerminal({ env });
  writeFileSync(join(terminal.cwd, "gateway.yaml"), text);
  const code = await apply(readArguments(["apply", "gateway.yaml", "--url", gateway.url, ...words]), terminal);
  return { code, out: terminal.takeOut(), said: terminal.takeSaid() };
}

async function listed(path: string): Promise<readonly Record<string, unknown>[]> {
  return ((await (await gateway.api("GET", path)).json()) as { data: Record<string, unknown>[] }).data;
}

test("the plan names everything and changes nothing", async () => {
  const { code, said } = await run(STATE, "--plan");
  expect(code, said).toBe(3);
  for (const line of [
    "+ profile cheap",
    "+ team search",
    "+ key search-api",
    "+ budget Search",
    "~ added provider openai",
  ])
    expect(said).toContain(line);
  expect(said).not.toContain(SECRET);
  expect(await listed("/api/profiles")).toEqual([]);
});

test("it makes what is missing, with names as ids, and prints the new key alone", async () => {
  const { code, out, said } = await run(STATE);
  expect(code, said).toBe(0);
  expect(out).toMatch(/^sk-service-\S+\n$/);
  const answer = await gateway.get("/v1/key", { authorization: `Bearer ${out.trim()}` });
  expect(answer.status).toBe(200);
  const [profile] = await listed("/api/profiles");
  const teams = new Map((await listed("/api/teams")).map((team) => [team.name, team]));
  expect(teams.get("ranking")?.parent).toBe(teams.get("search")?.id);
  expect(teams.get("search")?.profile).toBe(profile?.id);
  const key = (await listed("/api/keys?status=active")).find(({ name }) => name === "search-api");
  expect(key).toMatchObject({ team: teams.get("ranking")?.id, profile: profile?.id, requestsPerMinute: 120 });
  const budget = (await listed("/api/budgets")).find(({ name }) => name === "Search");
  expect(budget).toMatchObject({ value: teams.get("search")?.id, hard: false });
});

test("a second time nothing differs, and nothing is made", async () => {
  const versions = (await listed("/api/versions")).length;
  expect(await run(STATE, "--plan")).toMatchObject({ code: 0, said: expect.stringContaining("Nothing differs.") });
  expect(await run(STATE)).toMatchObject({ code: 0, out: "" });
  expect((await listed("/api/versions")).length).toBe(versions);
});

test("what somebody changed by hand is drift, in words, and is set back", async () => {
  const [profile] = await listed("/api/profiles");
  await gateway.api("PUT", `/api/profiles/${profile?.id}`, { name: "cheap", tierCeiling: "COMPLEX" });
  await gateway.api("PATCH", "/api/settings", { options: { "logging.retentionDays": 7 } });
  const drift = await run(STATE, "--plan", "--json");
  expect(drift.code).toBe(3);
  const { changes } = JSON.parse(drift.out) as { changes: string[] };
  expect(changes.join("\n")).toContain("tierCeiling COMPLEX → LIGHT");
  expect(changes.join("\n")).toContain("logging.retentionDays: 7 → 90");
  expect((await run(STATE)).code).toBe(0);
  expect((await run(STATE, "--plan")).code).toBe(0);
});

test("another key of a provider is a change, and never printed", async () => {
  const { code, said } = await run(STATE.replace(/\$\{OPENAI_KEY\}/, "sk-another-long-key-8888"), "--plan");
  expect(code).toBe(3);
  expect(said).toContain("8888");
  expect(said).not.toMatch(/another|sk-/);
});

test("several keys of a provider are kept with their weights and ends, and one key takes their place", async () => {
  const keys = (list: string): string => `configuration: { providers: { openai: { apiKeys: [${list}] } } }`;
  const two = `"\${OPENAI_KEY}", { key: sk-another-long-key-8888, weight: 3, expires: 2099-01-31 }`;
  const first = await run(keys(two));
  expect(first.code, first.said).toBe(0);
  expect(await run(keys(two), "--plan")).toMatchObject({ code: 0, said: expect.stringContaining("Nothing differs.") });
  const drift = await run(keys(two.replace("weight: 3", "weight: 1")), "--plan");
  expect(drift).toMatchObject({ code: 3, said: expect.stringContaining("providers.openai.apiKeys") });
  expect(drift.said).not.toMatch(/sk-|another|long/);
  const [provider] = (await listed("/api/providers")).filter(({ id }) => id === "openai");
  expect(provider?.keys).toMatchObject([{ weight: 1 }, { weight: 3 }]);
  expect((await run(STATE)).code).toBe(0);
  expect((await run(STATE, "--plan")).code).toBe(0);
});

test("only --prune removes, after a question, and only in lists that the file has", async () => {
  const less = "budgets: []\nkeys: []\n";
  const kept = await run(less);
  expect(kept).toMatchObject({ code: 0, said: expect.stringContaining("budget Search is not in the file") });
  expect((await run(less, "--prune")).code).toBe(2);
  expect(await listed("/api/budgets")).toHaveLength(2);
  expect((await run(less, "--prune", "--yes")).code).toBe(0);
  expect(await listed("/api/budgets")).toEqual([]);
  expect(await listed("/api/keys?status=active")).toEqual([]);
  expect(await listed("/api/teams")).toHaveLength(2);
  expect((await run("teams: []\nprofiles: []\n", "--prune", "--yes")).code).toBe(0);
  expect(await listed("/api/profiles")).toEqual([]);
});

test.each([
  ["a name of nothing", "teams: [{ name: a, profile: nothing }]", 1, "no profile named 'nothing'"],
  ["an unknown field", "teams: [{ name: a, colour: red }]", 1, "POST /api/teams"],
  ["an unknown section", "team: []", 2, "no section 'team'"],
  ["a name twice", "teams: [{ name: a }, { name: a }]", 2, "twice"],
  ["a variable that is not set", `configuration: { providers: { openai: { apiKey: "$\{NOT_SET}" } } }`, 2, "NOT_SET"],
  ["no map", "- 1", 2, "must be a map"],
])("%s stops it with a reason", async (_, text, code, words) => {
  expect(await run(text)).toMatchObject({ code, said: expect.stringContaining(words) });
  expect(await listed("/api/teams")).toEqual([]);
});

test("without a token or a gateway it says so", async () => {
  const terminal = recordTerminal({ readInput: async () => "teams: []" });
  expect(await apply(readArguments(["apply", "-"]), terminal)).toBe(2);
  expect(terminal.takeSaid()).toContain("SWITCHYARD_ADMIN_TOKEN");
  const away = recordTerminal({ env: { SWITCHYARD_ADMIN_TOKEN: "t" }, readInput: async () => "teams: []" });
  expect(await apply(readArguments(["apply", "-", "--url", "http://127.0.0.1:1"]), away)).toBe(1);
  expect(away.takeSaid()).toContain("No gateway answers");
});
