// Models asked for by an alias: the answer names the model of the catalogue, and a note says so. Behaviour 9.

import { afterAll, beforeAll, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

interface Answer {
  readonly model: string;
  readonly service: { readonly notes?: readonly { readonly code: string; readonly message: string }[] };
}

async function ask(model: string, more: object = {}, key?: string): Promise<Answer> {
  const body = { ...HELLO, service_profile: "direct", model, ...more };
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const response = await gateway.post("/v1/chat/completions", body, headers);
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

async function keyWith(profile: object): Promise<string> {
  const name = `p${Math.random()}`;
  const created = await gateway.api("POST", "/api/profiles", { name, ...profile });
  expect(created.status).toBe(201);
  const { id } = (await created.json()) as { readonly id: string };
  const made = await gateway.api("POST", "/api/keys", { name, profile: id });
  return ((await made.json()) as { readonly key: string }).key;
}

it.each([
  ["claude-sonnet-latest", "claude-sonnet-5-5"],
  ["openai/gpt-6-luna", "gpt-6-luna"],
  ["anthropic/claude-haiku-5.5", "claude-haiku-5-5"],
])("%s is answered by %s", async (alias, id) => {
  const { model, service } = await ask(alias);
  expect(model).toBe(id);
  expect(service.notes).toContainEqual({ code: "model_alias", message: `"${alias}" is an alias of ${id}.` });
});

it("says nothing of an id, or of a name that the router did not follow", async () => {
  expect((await ask("gpt-6-luna")).service.notes).toBeUndefined();
  const routed = await ask("claude-sonnet-latest", { service_profile: "auto" });
  expect(routed.service.notes).toBeUndefined();
});

it("counts under honourModel, and in lists of allowed and blocked models", async () => {
  const honoured = await keyWith({
    honourModel: true,
    allowedModels: ["gpt-luna-latest", "anthropic/claude-haiku-5.5"],
  });
  expect((await ask("claude-haiku-latest", { service_profile: "auto" }, honoured)).model).toBe("claude-haiku-5-5");
  expect((await ask("openai/gpt-6-luna", { service_profile: "auto" }, honoured)).model).toBe("gpt-6-luna");
  const blocked = await keyWith({ blockedModels: ["claude-haiku-latest"] });
  const body = { ...HELLO, service_profile: "direct", model: "claude-haiku-5-5" };
  const refused = await gateway.post("/v1/chat/completions", body, { authorization: `Bearer ${blocked}` });
  await expectError(refused, { status: 404, code: "model_not_found", param: "model" });
});

it.each(["claude-sonnet-latest", "anthropic/claude-sonnet-5.5"])("GET /v1/models/%s finds the model", async (name) => {
  const response = await gateway.get(`/v1/models/${name}`);
  expect(await response.json()).toMatchObject({ id: "claude-sonnet-5-5" });
});

it("names the nearest model that the key may use for a name that nothing has", async () => {
  const named = async (key?: string): Promise<string> => {
    const body = { ...HELLO, service_profile: "direct", model: "openai/gpt-6-lunar" };
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const details = { status: 404, code: "model_not_found", param: "model" } as const;
    return (await expectError(await gateway.post("/v1/chat/completions", body, headers), details)).message;
  };
  expect(await named()).toContain('Did you mean "gpt-6-luna"?');
  expect(await named(await keyWith({ blockedModels: ["gpt-6-luna"] }))).not.toContain('"gpt-6-luna"');
});

it("refuses a profile with an unknown name", async () => {
  const refused = await gateway.api("POST", "/api/profiles", { name: "x", allowedModels: ["gpt-9-latest"] });
  await expectError(refused, { status: 400, param: "allowedModels" });
});
