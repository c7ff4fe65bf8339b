// No prompt, answer or key reaches the database unless content is asked for; then both are there, within bounds.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { labYaml, startGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, fails, startFakeProvider } from "../../support/providers/fake-provider.ts";

const CANARIES = {
  prompt: "canary-of-the-prompt",
  system: "canary-of-the-system",
  answer: "canary-of-the-answer",
  tool: "canary-of-a-tool",
};
const BODY = {
  messages: [
    { role: "system", content: CANARIES.system },
    { role: "user", content: `Say something about ${CANARIES.prompt}.` },
  ],
  tools: [{ type: "function", function: { name: "look", description: CANARIES.tool } }],
};

let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider();
});
afterAll(() => provider.close());

/** Every kind of ending, then everything the database wrote. */
async function fill(
  extra: string,
): Promise<{ bytes: string; key: string; record: Record<string, unknown>; logged: string }> {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-privacy-"));
  const gateway = await startGateway({
    yaml: labYaml(provider.url, ["alpha"], extra),
    database: `sqlite:${join(folder, "test.db")}`,
  });
  provider.on("*", answers(`Gladly: ${CANARIES.answer}`));
  for (const stream of [false, true]) await (await gateway.post("/v1/chat/completions", { ...BODY, stream })).text();
  provider.once("alpha", fails(400, { message: `what is ${CANARIES.prompt}?` }));
  await (await gateway.post("/v1/chat/completions", BODY)).text();
  await (
    await gateway.post("/v1/messages", { ...BODY, max_tokens: 9, tools: undefined }, { "x-request-id": "the-last" })
  ).text();
  await (
    await gateway.post("/v1/chat/completions", { ...BODY, model: CANARIES.prompt, service_profile: "direct" })
  ).text();
  const record = (await (await gateway.api("GET", "/api/requests/the-last")).json()) as Record<string, unknown>;
  await gateway.stop();
  const bytes = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "latin1"))
    .join("");
  rmSync(folder, { recursive: true, force: true });
  return { bytes, key: gateway.key, record, logged: JSON.stringify(gateway.logged) };
}

describe("with content off", () => {
  it("nothing of what was said is in the database, nor the key", async () => {
    const { bytes, key, record, logged } = await fill("");
    expect(logged).toContain("the-last");
    for (const canary of Object.values(CANARIES)) expect(logged).not.toContain(canary);
    expect(record.content).toBeNull();
    expect(bytes).toContain("the-last");
    for (const canary of [...Object.values(CANARIES), key, key.slice(20), "lab-secret"])
      expect(bytes).not.toContain(canary);
  });
});

describe("with content on", () => {
  it("prompt and answer are there, the key is not", async () => {
    const { bytes, key, record } = await fill("logging: { content: true }");
    expect(record.content).toMatchObject({
      request: expect.stringContaining(CANARIES.prompt),
      isRequestCut: false,
      answer: `Gladly: ${CANARIES.answer}`,
      isAnswerCut: false,
    });
    for (const canary of Object.values(CANARIES)) expect(bytes).toContain(canary);
    expect(bytes).not.toContain(key);
  });
});
