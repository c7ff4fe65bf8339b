// Which formats a configured provider speaks, and in which of them it has a model.

import { describe, expect, it } from "vitest";
import { PROVIDER_KINDS } from "../../../src/catalog/provider-kinds.ts";
import { createFormats } from "../../../src/formats/registry.ts";
import { goodLoad, problemsOf } from "./workspace.ts";

const BOTH = ["openai-chat", "openai-responses"];

function lab(entry: string, model = ""): string {
  return [
    `providers: { lab: { ${entry} } }`,
    `models: [{ id: m, provider: lab, price: { input: 1, output: 1 }${model} }]`,
  ].join("\n");
}

describe("the formats of a provider", () => {
  it.each<[string, string, Record<string, string>, string, readonly string[] | undefined]>([
    ["of a vendor at its own address", "", { OPENAI_API_KEY: "sk-1" }, "openai", BOTH],
    ["of another vendor", "", { XAI_API_KEY: "xai-1" }, "xai", BOTH],
    ["of a vendor with one format", "", { GROQ_API_KEY: "gsk-1" }, "groq", undefined],
    ["of a vendor in the file", "providers: { openai: { apiKey: k } }", {}, "openai", BOTH],
    [
      "of a vendor's name at another address",
      "providers: { openai: { baseUrl: http://127.0.0.1:1/v1 } }",
      {},
      "openai",
      undefined,
    ],
    [
      "of a server that says so",
      lab(`kind: openai, baseUrl: http://127.0.0.1:1/v1, formats: [${BOTH.join(", ")}]`),
      {},
      "lab",
      BOTH,
    ],
  ])("%s", (_name, yaml, env, id, expected) => {
    const { settings } = goodLoad({ files: { "switchyard.yaml": yaml }, env });
    expect(settings.catalog.providers.get(id)?.formats).toEqual(expected);
  });

  it("of kind responses is that one", () => {
    const { settings } = goodLoad({
      files: { "switchyard.yaml": lab("kind: responses, baseUrl: http://127.0.0.1:1/v1") },
    });
    expect(settings.catalog.providers.get("lab")).toMatchObject({
      kind: "responses",
      format: "openai-responses",
      auth: { scheme: "bearer" },
    });
  });
});

describe("an Azure provider", () => {
  const AT = "baseUrl: https://lab.openai.azure.com";

  it("has a key of its own header, its dialect and a version", () => {
    const { settings } = goodLoad({ files: { "switchyard.yaml": lab(`kind: azure, ${AT}, apiVersion: 2024-10-21`) } });
    const { providers, models } = settings.catalog;
    const auth = { scheme: "azure", name: "api-key" };
    expect(providers.get("lab")).toMatchObject({ apiVersion: "2024-10-21", auth, addressing: "azure" });
    expect(models.get("m")?.dialect).toMatchObject({ toolIds: "safe-40", reasoningHistory: "drop" });
  });

  it("is the only one with a version", () => {
    const problems = problemsOf({ files: { "switchyard.yaml": lab(`kind: openai, ${AT}, apiVersion: 2024-10-21`) } });
    expect(problems).toMatchObject([{ message: expect.stringContaining("apiVersion is for providers of kind azure") }]);
  });
});

describe("a model of an endpoint other than chat", () => {
  const withEmbeddings = (entry: string): string =>
    lab(entry, " }, { id: e, provider: lab, price: { input: 1, output: 0 }, capabilities: [embeddings]");
  const AT = "baseUrl: http://127.0.0.1:1/v1";

  it.each([`kind: openai, ${AT}`, `kind: openai, ${AT}, formats: [${BOTH.join(", ")}]`, "kind: sandbox"])(
    "is taken where the provider has it: %s",
    (entry) => {
      const { settings } = goodLoad({ files: { "switchyard.yaml": withEmbeddings(entry) } });
      expect(settings.catalog.models.get("e")?.endpoint).toBe("embeddings");
    },
  );

  it.each([
    [`kind: anthropic, ${AT}`, "anthropic"],
    [`kind: gemini, ${AT}`, "gemini"],
    [`kind: responses, ${AT}`, "openai-responses"],
    [`kind: openai, ${AT}, formats: [openai-responses, openai-chat]`, "openai-responses"],
  ])("is a problem where it has none: %s", (entry, format) => {
    expect(problemsOf({ files: { "switchyard.yaml": withEmbeddings(entry) } })).toMatchObject([
      {
        place: expect.stringContaining("models[1].capabilities"),
        message: `the provider lab has no endpoint for embeddings: ${format} has none`,
      },
    ]);
  });

  it("is one whose format has it in the codecs as well", () => {
    const formats = createFormats();
    // A cloud may have a format without its other endpoints.
    for (const { kind, format } of PROVIDER_KINDS.filter(({ hasEndpoints }) => hasEndpoints)) {
      expect(formats.forProviders(format).endpoints, kind).toBeDefined();
    }
  });
});

describe("the formats of a model", () => {
  const provider = `kind: openai, baseUrl: http://127.0.0.1:1/v1, formats: [${BOTH.join(", ")}]`;

  it("are what the file says", () => {
    const yaml = lab(provider, ", formats: [openai-responses]");
    const { settings } = goodLoad({ files: { "switchyard.yaml": yaml } });
    expect(settings.catalog.models.get("m")?.formats).toEqual(["openai-responses"]);
  });

  it("are of no concern to the sandbox", () => {
    const yaml = "models: [{ id: m, provider: openai, price: { input: 1, output: 1 }, formats: [openai-responses] }]";
    const { settings } = goodLoad({ files: { "switchyard.yaml": yaml } });
    expect(settings.catalog.models.get("m")).toMatchObject({ provider: "sandbox" });
    expect(settings.catalog.models.get("m")?.formats).toBeUndefined();
  });

  it.each<[string, string, string, RegExp]>([
    [
      "none of its provider's",
      lab("kind: openai, baseUrl: http://127.0.0.1:1/v1", ", formats: [openai-responses]"),
      "models[0].formats",
      /speaks openai-chat, so m can be asked in nothing else/,
    ],
    ["an empty list", lab(provider, ", formats: []"), "models[0].formats", /can be asked in nothing else/],
    [
      "of a provider of another kind",
      lab("kind: anthropic, baseUrl: http://127.0.0.1:1, formats: [openai-chat]"),
      "providers.lab",
      /providers of kind anthropic speak: anthropic/,
    ],
    [
      "unknown",
      lab("kind: openai, baseUrl: http://127.0.0.1:1/v1, formats: [gopher]"),
      "providers.lab.formats[0]",
      /openai-responses/,
    ],
  ])("are a problem when they are %s", (_name, yaml, place, message) => {
    const [problem] = problemsOf({ files: { "switchyard.yaml": yaml } });
    expect(problem?.place).toContain(place);
    expect(problem?.message).toMatch(message);
  });
});
