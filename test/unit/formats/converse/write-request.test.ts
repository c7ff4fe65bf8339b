// Requests to Converse that other tests do not reach over HTTP.

import { describe, expect, it } from "vitest";
import { Documents } from "../../../../src/formats/converse/parts.ts";
import { writeConverseRequest } from "../../../../src/formats/converse/write-request.ts";
import { makeModel } from "../../../support/catalog.ts";
import { FORMATS, read } from "../anthropic/exchange.ts";

describe("a cap that money demands", () => {
  const message = { messages: [{ role: "user", content: "hi" }] };
  it.each([
    ["is sent where the client gave none", {}, 4_000, 4_000],
    ["is sent together with a budget of thinking", { reasoning_effort: "high" }, 4_000, 4_000],
    ["leaves no room for thinking", { reasoning_effort: "high" }, 400, 400],
    ["does not raise the client's own", { max_tokens: 3_000, reasoning_effort: "high" }, 4_000, 3_000],
    ["is not needed beside a budget", { reasoning_effort: "high" }, null, 16_384],
  ])("%s", (_name, fields, outputCap, expected) => {
    const request = read(FORMATS.openai, { ...message, ...fields });
    const model = makeModel({
      capabilities: ["reasoning"],
      dialect: { thinking: "budget", efforts: ["low", "medium", "high"] },
    });
    const sent = writeConverseRequest({ request, model, outputCap, refusedFields: [] });
    const { inferenceConfig, additionalModelRequestFields: own } = JSON.parse(sent.body.toString());
    expect(inferenceConfig.maxTokens).toBe(expected);
    expect(own === undefined || own.thinking.budget_tokens < expected).toBe(true);
  });
});

describe("names of documents", () => {
  it("are different, and take no longer for many of one name", () => {
    const documents = new Documents();
    const startedMs = performance.now();
    const names = Array.from({ length: 20_000 }, () => documents.nameOf("report.pdf"));
    // Counted from the first one each time, they took two minutes.
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(names.slice(0, 3)).toEqual(["report", "report (2)", "report (3)"]);
    expect(documents.nameOf("report (2).pdf")).toBe("report (2) (2)");
    expect(new Set(names).size).toBe(20_000);
  });
});
