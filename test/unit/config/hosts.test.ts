// Several hosts of a model and several keys of a provider, as a file writes them.

import { describe, expect, it } from "vitest";
import { goodLoad, problemsOf } from "./workspace.ts";

const PROVIDERS = `catalog: none
providers:
  lab: { kind: openai, baseUrl: "http://127.0.0.1:8000/v1" }
  team: { kind: openai, baseUrl: "http://127.0.0.1:8001/v1" }
tiers: { NANO: [small] }
`;

function wordsOf(yaml: string): string {
  return problemsOf({ yaml })
    .map(({ place, message }) => `${place}: ${message}`)
    .join("\n");
}

function modelOf(row: string, providers = PROVIDERS) {
  const { settings } = goodLoad({ yaml: `${providers}models:\n  - ${row}\n` });
  return settings.catalog.models.get("small");
}

describe("hosts of a model", () => {
  it("are one where only a provider is written", () => {
    const model = modelOf("{ id: small, provider: lab, upstream: qwen, price: { input: 0.1, output: 0.3 } }");
    const { hosts = [], ...fields } = model ?? {};
    expect(hosts).toEqual([fields]);
    expect(fields).toMatchObject({ provider: "lab", host: "lab", hostKey: "small", upstream: "qwen" });
  });

  it("say what differs, and have the model's figures for the rest", () => {
    const hosts =
      "[{ provider: lab, upstream: qwen3-8b }, { provider: team, price: { input: 0.2, output: 0.6 }, context: 32000, capabilities: [json], region: eu }]";
    const model = modelOf(
      `{ id: small, hosts: ${hosts}, price: { input: 0.1, output: 0.3 }, context: 64000, capabilities: [tools] }`,
    );
    const [lab, team] = model?.hosts ?? [];
    expect(lab).toMatchObject({ provider: "lab", upstream: "qwen3-8b", hostKey: "small", context: 64_000 });
    expect(lab?.price).toMatchObject({ input: 100_000, output: 300_000 });
    expect(team).toMatchObject({ upstream: "small", hostKey: "small via team", context: 32_000, region: "eu" });
    expect(team?.price).toMatchObject({ input: 200_000, output: 600_000 });
    expect([...(lab?.capabilities ?? [])]).toEqual(["tools"]);
    expect([...(team?.capabilities ?? [])]).toEqual(["json"]);
  });

  it("are further ones beside a provider, whose dialect they do not share", () => {
    const model = modelOf(
      "{ id: small, provider: lab, price: { input: 1, output: 1 }, dialect: { refuses: [seed] }, hosts: [{ provider: team }, { provider: team, upstream: other }] }",
    );
    expect(model?.hosts.map(({ host }) => host)).toEqual(["lab", "team/small", "team/other"]);
    expect(model?.hosts.map(({ dialect }) => dialect.refuses)).toEqual([["seed"], [], []]);
  });

  it("come first where they can be called", () => {
    const hosts = "[{ provider: openai, price: { input: 1, output: 1 } }, { provider: lab }, { provider: team }]";
    const model = modelOf(`{ id: small, hosts: ${hosts}, price: { input: 2, output: 2 } }`);
    expect(model?.hosts.map(({ host }) => host)).toEqual(["lab", "team", "openai"]);
    expect(model?.provider).toBe("lab");
  });

  it.each([
    ["{ id: small, price: { input: 1, output: 1 } }", "7:5 models[0]: provider is missing"],
    ["{ id: small, hosts: [], price: { input: 1, output: 1 } }", "7:5 models[0]: provider is missing"],
    ["{ id: small, hosts: [{ provider: lap, price: { input: 1, output: 1 } }] }", 'there is no provider "lap"'],
    ["{ id: small, hosts: [{ upstream: a }] }", "provider is missing"],
    ["{ id: small, hosts: [{ provider: lab, prize: 1 }] }", 'unknown key "prize"'],
  ])("%s is refused", (row, problem) => {
    expect(wordsOf(`${PROVIDERS}models:\n  - ${row}\n`)).toContain(problem);
  });
});

describe("keys of a provider", () => {
  const providerOf = (entry: string, env: Record<string, string> = {}) =>
    goodLoad({ yaml: `providers:\n  openai: ${entry}\n`, env }).settings.catalog.providers.get("openai");

  it("are read with their weights, under an id that is made from the key", () => {
    const env = { KEY_A: "sk-a", KEY_B: "sk-b" };
    const provider = providerOf(`{ apiKeys: [\${KEY_A}, { key: \${KEY_B}, weight: 2 }] }`, env);
    expect(provider?.apiKey).toBe("sk-a");
    expect(provider?.apiKeys?.map(({ key, weight }) => [key, weight])).toEqual([
      ["sk-a", 1],
      ["sk-b", 2],
    ]);
    const ids = provider?.apiKeys?.map(({ id }) => id) ?? [];
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}$/);
  });

  it("may have the day on which they end, alone or among others", () => {
    const endsAtMs = Date.UTC(2027, 0, 31);
    expect(providerOf("{ apiKeys: [{ key: sk-a, expires: 2027-01-31 }] }")).toMatchObject({ keyEndsAtMs: endsAtMs });
    const several = providerOf("{ apiKeys: [sk-a, { key: sk-b, expires: 2027-01-31 }] }");
    expect(several).not.toHaveProperty("keyEndsAtMs");
    expect(several?.apiKeys?.map((key) => key.endsAtMs)).toEqual([undefined, endsAtMs]);
  });

  it("go by the id that the file gives them", () => {
    const keys = providerOf("{ apiKeys: [{ key: sk-a, id: team-a }, sk-b] }")?.apiKeys;
    expect(keys?.map(({ id }) => id)).toEqual(["team-a", expect.stringMatching(/^[0-9a-f]{8}$/)]);
  });

  it("are one key where only one is left", () => {
    const provider = providerOf(`{ apiKeys: [\${KEY_A}, \${KEY_B:-}] }`, { KEY_A: "sk-a" });
    expect(provider).toMatchObject({ apiKey: "sk-a" });
    expect(provider).not.toHaveProperty("apiKeys");
  });

  it("are switched off by a weight of 0, and keep their ids", () => {
    const keysOf = (weight: number) =>
      providerOf(`{ apiKeys: [sk-a, { key: sk-b, weight: ${weight} }, sk-c] }`)?.apiKeys;
    const [a, , c] = keysOf(1) ?? [];
    expect(keysOf(0)).toEqual([a, c]);
  });

  it("outweigh the vendor's variable, which holds one, and say so", () => {
    const env = { OPENAI_API_KEY: "sk-other" };
    const { settings, warnings } = goodLoad({ yaml: "providers:\n  openai: { apiKeys: [sk-a, sk-b] }\n", env });
    expect(settings.catalog.providers.get("openai")?.apiKey).toBe("sk-a");
    expect(warnings.map(({ message }) => message).join()).toContain("OPENAI_API_KEY is not used");
  });

  it.each([
    ["{ apiKeys: [sk-a, sk-a] }", "the same key is listed twice"],
    ["{ apiKey: sk-a, apiKeys: [sk-b] }", "write apiKey or apiKeys, not both"],
    ["{ apiKeys: sk-a }", "expected a list of keys"],
    ["{ apiKeys: [{ weight: 2 }] }", "key is missing"],
    ["{ apiKeys: [{ key: sk-a, weight: -1 }] }", "expected a number from 0 to 1000"],
    ["{ apiKeys: [{ key: sk-a, weight: 0 }] }", "expected a key with a weight above 0"],
    [
      "{ apiKeys: ['two words'] }",
      "expected a key of plain characters, without spaces, got something else (not shown)",
    ],
    ["{ apiKey: 'sk\u2011x' }", "expected a key of plain characters, without spaces, got something else (not shown)"],
  ])("%s is refused", (entry, problem) => {
    const problems = wordsOf(`providers:\n  openai: ${entry}\n`);
    expect(problems).toContain(problem);
    expect(problems).not.toContain("sk-a");
  });
});

it("a vendor's variable with a character that cannot be sent is refused, and not shown", () => {
  const problems = problemsOf({ env: { OPENAI_API_KEY: "sk\u2011x" } });
  expect(problems).toEqual([
    {
      place: "environment OPENAI_API_KEY",
      message: "the key holds a space or a character that cannot be sent; copy it again",
      suggestion: null,
    },
  ]);
});

describe("region and data policy of a host", () => {
  const policyOf = (yaml: string, model: string, provider: string) => {
    const host = goodLoad({ yaml })
      .settings.catalog.models.get(model)
      ?.hosts.find((each) => each.provider === provider);
    return [host?.region, host?.dataPolicy, host?.policySource];
  };
  const shipped = [undefined, expect.stringContaining("Not kept"), expect.stringContaining("console.groq.com")];
  const azure = `providers: { azure-eu: { kind: azure, baseUrl: "https://eu.openai.azure.com", apiKey: b, deployments: { gpt-4.1: eu-1 } } }\n`;

  it("are those of its provider, at the provider's own address", () => {
    expect(policyOf("providers: { groq: { apiKey: a } }\n", "gpt-oss-120b", "groq")).toEqual(shipped);
    // Not configured, it is shown as it ships.
    expect(policyOf("providers: { openai: { apiKey: a } }\n", "gpt-oss-120b", "groq")).toEqual(shipped);
    const proxy = `providers: { groq: { apiKey: a, baseUrl: "http://127.0.0.1:9/v1" } }\n`;
    expect(policyOf(proxy, "gpt-oss-120b", "groq")).toEqual([undefined, undefined, undefined]);
    expect(policyOf(azure, "gpt-4.1", "azure-eu")[0]).toContain("As deployed");
  });

  it("are what the file writes of it, without a foreign source", () => {
    const row = "{ id: small, provider: groq, price: { input: 1, output: 2 }, region: Finland }";
    const yaml = `providers: { groq: { apiKey: a } }\nmodels:\n  - ${row}\n`;
    expect(policyOf(yaml, "small", "groq")).toEqual(["Finland", undefined, undefined]);
  });

  it("are unknown in the sandbox, which sends nothing anywhere", () => {
    expect(policyOf("", "gpt-oss-120b", "sandbox")).toEqual([undefined, undefined, undefined]);
  });
});

describe("deployments of an Azure resource", () => {
  const azure = (fields: string, id = "azure-openai"): string =>
    `providers:\n  ${id}: { kind: azure, baseUrl: "https://lab.openai.azure.com", apiKey: a, ${fields} }\n`;
  const hostsOf = (yaml: string, model: string) =>
    goodLoad({ yaml })
      .settings.catalog.models.get(model)
      ?.hosts.filter(({ provider }) => provider.startsWith("azure"))
      .map(({ provider, upstream, price }) => [provider, upstream, price?.input]);

  it("are called like their models where nothing is written", () => {
    expect(hostsOf(azure(""), "gpt-4.1")).toEqual([["azure-openai", "gpt-4.1", 2_000_000]]);
    expect(hostsOf(azure(""), "gpt-5-mini")).toEqual([["azure-openai", "gpt-5-mini", 250_000]]);
  });

  it("are the only ones where they are written", () => {
    const yaml = azure("deployments: { gpt-4.1: prod-1 }");
    expect(hostsOf(yaml, "gpt-4.1")).toEqual([["azure-openai", "prod-1", 2_000_000]]);
    expect(hostsOf(yaml, "gpt-5-mini")).toEqual([]);
  });

  it("may be in several resources, each at the price of Azure", () => {
    const second = `  azure-eu: { kind: azure, baseUrl: "https://eu.openai.azure.com", apiKey: b, deployments: { gpt-4.1: eu-1, gpt-5-mini: eu-2 } }\n`;
    const yaml = azure("deployments: { gpt-4.1: prod-1 }") + second;
    expect(hostsOf(yaml, "gpt-4.1")).toEqual([
      ["azure-openai", "prod-1", 2_000_000],
      ["azure-eu", "eu-1", 2_000_000],
    ]);
    expect(hostsOf(yaml, "gpt-5-mini")).toEqual([["azure-eu", "eu-2", 250_000]]);
  });

  it("name the host of a model that the file has", () => {
    const models = "models:\n  - { id: mine, provider: azure-openai, price: { input: 1, output: 2 } }\n";
    const yaml = azure("deployments: { mine: prod-9 }") + models;
    expect(hostsOf(yaml, "mine")).toEqual([["azure-openai", "prod-9", 1_000_000]]);
  });

  it.each([
    [azure("deployments: { gpt-4.11: a }"), 'there is no model "gpt-4.11" in the catalogue'],
    [azure("deployments: { claude-opus-4-5: a }"), "the catalogue has no price of claude-opus-4-5 on Azure"],
    [
      "providers:\n  openai: { apiKey: a, deployments: { gpt-4.1: a } }\n",
      "deployments is for providers of kind azure",
    ],
  ])("that cannot be served are refused: %s", (yaml, problem) => {
    expect(wordsOf(yaml)).toContain(problem);
  });

  it.each([
    ["azure-eu", ""],
    ["azure-openai", "deployments: {}"],
  ])("are missing: %s is warned of with the next step", (id, fields) => {
    const { warnings } = goodLoad({ yaml: `${azure(fields, id)}  openai: { apiKey: a }\n` });
    // Alone, nothing could be served at all.
    expect(wordsOf(azure(fields, id))).toContain(`${id} has no models: list its deployments`);
    expect(warnings).toContainEqual(
      expect.objectContaining({
        message: expect.stringContaining(`list its deployments under providers.${id}.deployments`),
      }),
    );
    expect(JSON.stringify(goodLoad({ yaml: azure("deployments: { gpt-4.1: a }", id) }).warnings)).not.toContain(
      "deployments",
    );
  });

  it("need not be configured for a model that lists Azure among its hosts", () => {
    const row =
      "  - { id: gpt-4.1, price: { input: 1, output: 2 }, hosts: [{ provider: openai }, { provider: azure-openai }] }";
    expect(wordsOf(`providers: { openai: { apiKey: a } }\nmodels:\n${row}\n`)).toBe("");
  });
});
