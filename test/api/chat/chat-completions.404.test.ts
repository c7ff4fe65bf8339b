// `direct` with a model that is not offered to the key. Behaviour 4.7.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  const yaml = "models: [{ id: free-of-price, provider: sandbox, context: 1000, maxOutput: 100 }]";
  gateway = await startGateway({ yaml });
});
afterAll(() => gateway.stop());

describe("404 in the profile direct", () => {
  it.each(["no-such-model", "GPT-4O-MINI", "gpt-4o-mini ", "../etc/passwd", "constructor", "__proto__"])(
    "%j",
    async (model) => {
      const body = { ...HELLO, service_profile: "direct", model };
      const error = await expectError(await gateway.post("/v1/chat/completions", body), {
        status: 404,
        code: "model_not_found",
        param: "model",
      });
      expect(error.message).toContain("auto");
      const debug = { ...body, prompt: "x" };
      await expectError(await gateway.post("/v1/routing/debug", debug), { status: 404, code: "model_not_found" });
    },
  );

  it("says of a model without a price that this is why", async () => {
    const body = { ...HELLO, service_profile: "direct", model: "free-of-price" };
    const answer = await gateway.post("/v1/chat/completions", body);
    const error = await expectError(answer, { status: 404, code: "model_not_found", param: "model" });
    expect(error.message).toContain('Model "free-of-price" has no price');
    expect(error.message).not.toContain("this key");
  });

  it("does not come for any model of the list", async () => {
    const { data } = (await (await gateway.get("/v1/models")).json()) as { data: { id: string }[] };
    expect(data.length).toBeGreaterThan(20);
    for (const { id } of data.filter((model) => model.id !== "auto")) {
      const answer = await gateway.post("/v1/routing/debug", { prompt: "x", service_profile: "direct", model: id });
      expect(await answer.json()).toMatchObject({ decision: { model: id, filteredChain: [id], profile: "direct" } });
    }
  });
});
