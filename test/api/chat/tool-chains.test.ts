// Chains for requests with tools, over HTTP: which model is asked, what it is asked for, and where the chains are shown.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chains as chainsCommand } from "../../../src/cli/versions.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";
import { answers, type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

let lab: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  lab = await startFakeProvider(answers("ok"));
  const chains = [
    "tiers: { LIGHT: [alpha, beta], STANDARD: [alpha] }",
    "tiersWithTools: { LIGHT: [beta@high, alpha] }",
  ];
  gateway = await startGateway({ yaml: yamlWith(...chains) });
});

/** A lab with two models that take tools and efforts. */
function yamlWith(...chains: readonly string[]): string {
  const model = (id: string) =>
    `  - { id: ${id}, provider: lab, price: { input: 1, output: 3 }, capabilities: [tools, reasoning] }`;
  return [
    "catalog: none",
    `providers: { lab: { kind: openai, baseUrl: "${lab.url}", apiKey: k } }`,
    ...["models:", ...["alpha", "beta"].map(model), ...chains],
    "routing: { baseline: beta }",
  ].join("\n");
}

beforeEach(() => lab.reset());
afterAll(async () => {
  await gateway.stop();
  await lab.close();
});

const TOOLS = { tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }] };
const inTier = (tier: string) => ({ ...HELLO, service_profile: "tier", service_tier: tier });

it("a request with tools goes to the chain for tools, where its tier has one", async () => {
  await gateway.post("/v1/chat/completions", { ...inTier("LIGHT"), ...TOOLS });
  expect(lab.requests.at(-1)?.body).toMatchObject({ model: "beta", reasoning_effort: "high" });
  await gateway.post("/v1/chat/completions", inTier("LIGHT"));
  expect(lab.requests.at(-1)?.body).toMatchObject({ model: "alpha" });
  await gateway.post("/v1/chat/completions", { ...inTier("STANDARD"), ...TOOLS });
  expect(lab.requests.at(-1)?.body).toMatchObject({ model: "alpha" });
});

it("the debug endpoint and the list of models show it", async () => {
  const asked = { prompt: "Hi", profile: "tier", service_tier: "LIGHT" };
  const chainOf = async (body: object) => {
    const answer = await gateway.post("/v1/routing/debug", { ...asked, ...body });
    return ((await answer.json()) as { decision: { filteredChain: readonly string[] } }).decision.filteredChain;
  };
  expect(await chainOf({})).toEqual(["alpha", "beta"]);
  expect(await chainOf(TOOLS)).toEqual(["beta", "alpha"]);
  const { data } = (await (await gateway.api("GET", "/api/models")).json()) as { data: readonly { id: string }[] };
  expect(data.find(({ id }) => id === "beta")).toMatchObject({
    chains: [{ tier: "LIGHT", place: 2, of: 2, effort: null }],
    chainsWithTools: [{ tier: "LIGHT", place: 1, of: 2, effort: "high" }],
  });
});

describe("a chain for tools at run time", () => {
  let live: TestGateway;
  beforeAll(async () => {
    live = await startGateway({ yaml: yamlWith("tiers: { STANDARD: [alpha] }") });
  });
  beforeEach(async () => {
    expect((await live.api("POST", "/api/versions/0/rollback")).status).toBeLessThan(300);
  });
  afterAll(() => live.stop());

  const put = async (body: object) => {
    const answer = await live.api("PUT", "/api/chains", body);
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  };
  const asked = async (tier: string, body: object = TOOLS) => {
    await (await live.post("/v1/chat/completions", { ...inTier(tier), ...body })).text();
    return (lab.requests.at(-1)?.body as { model: string } | undefined)?.model;
  };
  const versions = async () => JSON.parse(await (await live.api("GET", "/api/versions")).text()).data;

  it("is a version with its author and difference, which requests follow and a rollback undoes", async () => {
    await put({ chains: { LIGHT: ["alpha"] } });
    expect(await asked("LIGHT")).toBe("alpha");
    const { body } = await put({ chainsWithTools: { LIGHT: ["beta@high", "alpha"] }, note: "Better at calls" });
    expect(await asked("LIGHT")).toBe("beta");
    expect(lab.requests.at(-1)?.body).toMatchObject({ reasoning_effort: "high" });
    expect(await asked("LIGHT", {})).toBe("alpha");
    const [newest, older] = await versions();
    expect(newest).toMatchObject({ number: body.version.number, author: expect.any(String), note: "Better at calls" });
    const shown = JSON.parse(await (await live.api("GET", `/api/versions/${newest.number}`)).text());
    expect(JSON.stringify(shown.changes)).toContain("tiersWithTools.LIGHT: not set → beta@high, alpha");
    await live.api("POST", `/api/versions/${older.number}/rollback`);
    expect(await asked("LIGHT")).toBe("alpha");
  });

  it("stays when the tier gets another chain, and an empty list takes it away", async () => {
    await put({ chainsWithTools: { LIGHT: ["beta"] } });
    await put({ chains: { LIGHT: ["alpha"] } });
    expect(await asked("LIGHT")).toBe("beta");
    await put({ chainsWithTools: { LIGHT: [] } });
    expect(await asked("LIGHT")).toBe("alpha");
    await put({ chainsWithTools: { LIGHT: null } });
    const { document } = JSON.parse(await (await live.api("GET", "/api/configuration")).text());
    expect(document).toEqual({ tiers: { LIGHT: ["alpha"] } });
  });

  it.each([
    [{ chainsWithTools: { LIGHT: ["nobody"] } }, 422, "tiersWithTools.LIGHT[0]"],
    [{ chainsWithTools: { LIGHT: ["alpha@ultra"] } }, 422, "tiersWithTools.LIGHT[0]"],
    [{ chainsWithTools: { TINY: ["alpha"] } }, 400, "chainsWithTools"],
    [{ note: "Nothing" }, 400, "chains"],
  ])("%j is refused", async (body, status, param) => {
    const answer = await put(body);
    expect([answer.status, answer.body.error.param]).toEqual([status, expect.stringContaining(param)]);
  });

  it("is refused where the file sets it", async () => {
    const answer = await gateway.api("PUT", "/api/chains", { chainsWithTools: { LIGHT: ["alpha"] } });
    expect([answer.status, await answer.text()]).toEqual([409, expect.stringContaining("tiersWithTools.LIGHT")]);
  });

  it("is replayed as it would be published", async () => {
    await put({ chains: { LIGHT: ["alpha"] }, chainsWithTools: { LIGHT: ["beta"] } });
    const logged = await live.post("/v1/chat/completions", { ...inTier("LIGHT"), ...TOOLS });
    await logged.text();
    const id = logged.headers.get("x-request-id");
    const modelAfter = async (path: string, body: object) => {
      const answer = await live.api("POST", path, body);
      const { changes } = JSON.parse(await answer.text()) as {
        changes: readonly { requestId: string; after: { model: string } | null }[];
      };
      return changes.find(({ requestId }) => requestId === id)?.after?.model ?? "as before";
    };
    const underPolicy = (policy: object) => modelAfter("/api/profiles/replay", { profile: {}, policy });
    const underDraft = (draft: object) => modelAfter("/api/replay", { draft });
    expect(await underPolicy({ chains: { LIGHT: ["alpha"] } })).toBe("as before");
    expect(await underPolicy({ chainsWithTools: { LIGHT: ["alpha"] } })).toBe("alpha");
    expect(await underPolicy({ chainsWithTools: { LIGHT: [] } })).toBe("alpha");
    expect(await underDraft({ tiers: { LIGHT: ["alpha", "beta"] } })).toBe("as before");
    expect(await underDraft({ tiersWithTools: { LIGHT: ["alpha"] } })).toBe("alpha");
  });

  it("is set by the command", async () => {
    const terminal = recordTerminal({ env: { DATABASE_URL: live.database } });
    writeFileSync(join(terminal.cwd, "switchyard.yaml"), yamlWith("tiers: { STANDARD: [alpha] }"));
    const words = ["set", "LIGHT", "beta"];
    const code = await chainsCommand({ command: "chains", words, flags: { "with-tools": "true" } }, terminal);
    expect([code, terminal.takeSaid()]).toEqual([0, expect.stringContaining("tiersWithTools.LIGHT: not set → beta")]);
  });
});
