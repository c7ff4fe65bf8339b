// A key whose profile honours the model that a client names, so that a menu built from the models list works. Behaviour 5.14.

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { VERSION } from "../../support/providers/messages.ts";

const BLOCKED = "gpt-5.4";
/** No easy prompt is routed to it. */
const NAMED = "claude-opus-4-8";
const HELLO = "Hello there!";

let gateway: TestGateway;
let honouring: Record<string, string>;
let plain: Record<string, string>;
let profileId: string;
beforeAll(async () => {
  gateway = await startGateway();
  const saved = await gateway.api("POST", "/api/profiles", {
    name: "menu",
    honourModel: true,
    blockedModels: [BLOCKED],
  });
  profileId = ((await saved.json()) as { id: string }).id;
  const made = await gateway.api("POST", "/api/keys", { name: "menu", profile: profileId });
  honouring = { authorization: `Bearer ${((await made.json()) as { key: string }).key}` };
  plain = { authorization: `Bearer ${gateway.key}` };
});
afterAll(() => gateway.stop());

/** The same words in the body of each endpoint. */
const messages = [{ role: "user", content: HELLO }];
const ENDPOINTS: readonly (readonly [path: string, body: object])[] = [
  ["/v1/chat/completions", { messages }],
  ["/v1/messages", { messages, max_tokens: 100 }],
  ["/v1/responses", { input: HELLO }],
  ["/v1/completions", { prompt: HELLO }],
];

interface Service {
  readonly model: string;
  readonly tier: string;
  readonly profile: string;
  readonly method: string;
  readonly session: string;
}

async function ask(
  path: string,
  body: object,
  headers: Record<string, string>,
): Promise<{ model: string; service: Service }> {
  const answer = await gateway.post(path, body, headers);
  expect({ path, status: answer.status }).toEqual({ path, status: 200 });
  return (await answer.json()) as { model: string; service: Service };
}

describe.each(ENDPOINTS)("%s", (path, body) => {
  it("answers with the model that is named, as with `direct`", async () => {
    const { model, service } = await ask(path, { ...body, model: NAMED }, honouring);
    const direct = await ask(path, { ...body, model: NAMED, service_profile: "direct" }, plain);
    expect(model).toBe(NAMED);
    // The second request finds the session that the first one began.
    const { session: _, ...same } = direct.service;
    expect(service).toMatchObject(same);
    expect(service).toMatchObject({ model: NAMED, profile: "direct", method: "direct", confidence: 1 });
  });

  it("routes `auto`, an empty name and no name", async () => {
    const routed = await ask(path, { ...body, model: "auto" }, plain);
    for (const named of [{ model: "auto" }, { model: "" }, {}]) {
      const { service } = await ask(path, { ...body, ...named }, honouring);
      expect(service).toMatchObject({ profile: "auto", model: routed.service.model });
    }
  });

  it("is 404 for a model that is unknown or not offered, and nothing is charged", async () => {
    const credits = async (): Promise<unknown> => (await gateway.api("GET", "/api/credits")).json();
    const before = await credits();
    for (const model of ["nobody", BLOCKED]) {
      const answer = await gateway.post(path, { ...body, model }, honouring);
      expect(answer.status).toBe(404);
      expect(await answer.text()).toContain("model_not_found");
    }
    expect(await credits()).toEqual(before);
  });

  it("ignores the name with any other key", async () => {
    const { service } = await ask(path, { ...body, model: NAMED }, plain);
    expect(service.profile).toBe("auto");
    expect(service.model).not.toBe(NAMED);
    expect((await ask(path, { ...body, model: "nobody" }, plain)).service.profile).toBe("auto");
  });
});

it("leaves a forced tier to the request", async () => {
  const body = { messages, model: NAMED, service_profile: "tier", service_tier: "NANO" };
  expect((await ask("/v1/chat/completions", body, honouring)).service).toMatchObject({ tier: "NANO", profile: "tier" });
});

describe("the decision", () => {
  it.each([NAMED, "auto"])("is the same in the debug endpoint and the playground as live: %s", async (model) => {
    const { service } = await ask("/v1/chat/completions", { messages, model }, honouring);
    const answer = await gateway.post("/v1/routing/debug", { prompt: HELLO, model }, honouring);
    const { decision } = (await answer.json()) as { decision: Service & { reasoning: string } };
    const { model: chosen, tier, profile, method } = service;
    expect(decision).toMatchObject({ model: chosen, tier, profile, method });
    expect(decision.reasoning.includes("allowed by the key's profile")).toBe(model === NAMED);
    for (const bound of [{ profileId }, { profile: { honourModel: true } }]) {
      const tried = await gateway.api("POST", "/api/playground/decide", { prompt: HELLO, model, ...bound });
      expect(await tried.json()).toMatchObject({ decision: { model: chosen, tier, profile } });
    }
    const run = await gateway.api("POST", "/api/playground/run", { prompt: HELLO, model, profileId });
    expect(await run.json()).toMatchObject({ service: { model: chosen, profile } });
  });

  it("says in the debug endpoint too that a model is not offered", async () => {
    const answer = await gateway.post("/v1/routing/debug", { prompt: HELLO, model: "nobody" }, honouring);
    await expectError(answer, { status: 404 });
  });
});

describe("the models list", () => {
  it("has `auto` first in OpenAI's shape, and every entry works as a name", async () => {
    const client = new OpenAI({
      baseURL: `${gateway.url}/v1`,
      apiKey: honouring.authorization?.slice(7),
      maxRetries: 0,
    });
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids[0]).toBe("auto");
    expect(ids.filter((id) => id === "auto")).toHaveLength(1);
    expect(ids).toContain(NAMED);
    expect(ids).not.toContain(BLOCKED);
    expect(await client.models.retrieve("auto")).toMatchObject({ id: "auto", object: "model", owned_by: "switchyard" });
    const menu = await client.chat.completions.create({
      model: ids.at(-1) as string,
      messages: [{ role: "user", content: HELLO }],
    });
    expect(menu.model).toBe(ids.at(-1));
  });

  it("has `auto` first in Anthropic's shape, with its cursors", async () => {
    const client = new Anthropic({
      baseURL: gateway.url,
      authToken: honouring.authorization?.slice(7),
      apiKey: null,
      maxRetries: 0,
    });
    const ids: string[] = [];
    for await (const { id } of client.models.list({ limit: 1 })) ids.push(id);
    expect(ids[0]).toBe("auto");
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContain(NAMED);
    const one = await gateway.get("/v1/models/auto", { ...honouring, ...VERSION });
    expect(await one.json()).toMatchObject({ type: "model", id: "auto", display_name: "Auto" });
  });

  it("has no `auto` for any other key, which need not choose it", async () => {
    const list = (await (await gateway.get("/v1/models", plain)).json()) as { data: { id: string }[] };
    expect(list.data.filter(({ id }) => id.includes("auto"))).toEqual([]);
    expect((await gateway.get("/v1/models/auto", plain)).status).toBe(200);
  });

  it("has a name for Claude Code's menu, which shows no other ids, and it is routed in every format", async () => {
    const headers = { ...plain, ...VERSION };
    const list = (await (await gateway.get("/v1/models?limit=1000", headers)).json()) as { data: { id: string }[] };
    const [alias] = list.data;
    expect(alias).toMatchObject({ id: "claude-auto", display_name: "Auto" });
    const one = await gateway.get("/v1/models/claude-auto", headers);
    expect(await one.json()).toEqual(alias);
    for (const path of ["/v1/messages", "/v1/chat/completions"]) {
      const body = { messages, max_tokens: 50, model: "claude-auto" };
      for (const key of [plain, honouring]) expect((await ask(path, body, key)).service.profile).toBe("auto");
    }
  });

  it("offers with `auto` what its models can do", async () => {
    interface Entry {
      readonly id: string;
      readonly context_length: number;
      readonly pricing: { readonly prompt: string | null };
    }
    const { data } = (await (await gateway.get("/v1/models", honouring)).json()) as { data: Entry[] };
    const [auto, ...others] = data as [Entry, ...Entry[]];
    expect(auto.context_length).toBe(Math.max(...others.map(({ context_length: context }) => context)));
    expect(auto.pricing.prompt).toBeNull();
  });
});

it("follows when the profile changes", async () => {
  const path = `/api/profiles/${profileId}`;
  const body = { messages, model: NAMED };
  await gateway.api("PUT", path, { name: "menu" });
  expect((await ask("/v1/chat/completions", body, honouring)).service.profile).toBe("auto");
  await gateway.api("PUT", path, { name: "menu", honourModel: true });
  expect((await ask("/v1/chat/completions", body, honouring)).service.profile).toBe("direct");
});
