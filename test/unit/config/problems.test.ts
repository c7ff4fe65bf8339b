// Problems of a configuration, each with its place and a suggestion.

import { describe, expect, it } from "vitest";
import { formatProblems, type Problem } from "../../../src/config/report.ts";
import { goodLoad, loadIn, problemsOf, type Workspace } from "./workspace.ts";

const LAB = "providers: { lab: { kind: openai, baseUrl: http://127.0.0.1:1/v1 } }\n";

type Case = readonly [what: string, yaml: string, place: string, message: RegExp, suggestion: string | null];

const FILE_CASES: readonly Case[] = [
  ["unknown top key", "servr: {}\n", "1:1 servr", /unknown key "servr"/, "server"],
  ["unknown key in a section", "server:\n  prot: 1\n", "2:3 server.prot", /unknown key "prot"/, "port"],
  [
    "unknown key in limits",
    "limits: { requests_per_minute: 9 }",
    "1:11 limits.requests_per_minute",
    /unknown/,
    "requestsPerMinute",
  ],
  ["section of the wrong type", "server: 8787\n", "1:9 server", /expected a mapping, got 8787/, null],
  [
    "text for a number",
    "server: { port: http }\n",
    "1:17 server.port",
    /whole number from 0 to 65535, got "http"/,
    null,
  ],
  ["quoted number", 'server: { port: "80" }\n', "1:17 server.port", /got "80"/, null],
  ["port out of range", "server: { port: 70000 }\n", "1:17 server.port", /got 70000/, null],
  ["half a number", "limits: { requestsPerMinute: 1.5 }\n", "1:30 limits.requestsPerMinute", /whole number/, null],
  [
    "issuer of an identity provider",
    "identityProviders: { a: { issuer: http://x, clientId: c } }\n",
    "1:35 identityProviders.a.issuer",
    /the https address of an issuer/,
    null,
  ],
  [
    "identity provider without an issuer",
    "identityProviders: { a: { clientId: c } }\n",
    "1:22 identityProviders.a",
    /needs an issuer/,
    null,
  ],
  ["number for text", "server: { host: 5 }\n", "1:17 server.host", /got 5/, null],
  ["word for a truth value", "logging: { content: yes }\n", "1:21 logging.content", /true or false/, "true"],
  ["unknown word", "logging: { level: warning }\n", "1:19 logging.level", /one of debug, info/, "warn"],
  ["catalog", "catalog: built-in\n", "1:10 catalog", /one of builtin, none/, "builtin"],
  ["database", "database: mysql://h/d\n", "1:11 database", /sqlite:PATH or postgres/, null],
  ["redis", "redis: http://h\n", "1:8 redis", /redis:\/\//, null],
  ["origin with a path", "server: { corsOrigins: [https://a.b/c] }\n", "1:25 server.corsOrigins[0]", /an origin/, null],
  ["public URL with a path", "server: { publicUrl: https://a.b/c }\n", "1:22 server.publicUrl", /without a path/, null],
  ["public URL without a scheme", "server: { publicUrl: a.b }\n", "1:22 server.publicUrl", /http or https/, null],
  ["host with a port", 'server: { allowedHosts: ["a.b:1"] }\n', "1:26 server.allowedHosts[0]", /a host name/, null],
  ["list expected", "server: { corsOrigins: {} }\n", "1:24 server.corsOrigins", /a list, got a mapping/, null],
  ["negative markup", "routing: { markup: -0.1 }\n", "1:20 routing.markup", /from 0 to 10/, null],
  ["huge markup", "routing: { markup: 11 }\n", "1:20 routing.markup", /from 0 to 10/, null],
  ["fine markup", "routing: { markup: 0.0000001 }\n", "1:20 routing.markup", /six decimals/, null],
  ["unknown baseline", "routing: { baseline: gpt-55 }\n", "1:22 routing.baseline", /no model "gpt-55"/, "gpt-5.5"],
  [
    "own address",
    "server: { port: 8790 }\nproviders:\n  me: { kind: openai, baseUrl: http://localhost:8790/v1 }\n",
    "3:32 providers.me.baseUrl",
    /the gateway's own address/,
    null,
  ],
  [
    "own public address",
    "server: { publicUrl: https://llm.example.com }\nproviders:\n  me: { kind: openai, baseUrl: https://llm.example.com/v1 }\n",
    "3:32 providers.me.baseUrl",
    /the gateway's own address/,
    null,
  ],
  ["unset reference", `server:\n  host: \${NOPE}\n`, "2:9 server.host", /NOPE is not set\. Set it, or write/, null],
  [
    "providers of the wrong type",
    "providers: [openai]\n",
    "1:12 providers",
    /a mapping of provider names, got a list/,
    null,
  ],
  ["provider of the wrong type", "providers: { lab: yes }\n", "1:19 providers.lab", /a mapping, got "yes"/, null],
  ["misspelt provider", "providers: { opnai: { apiKey: k } }\n", "1:14 providers.opnai", /needs a kind/, "openai"],
  ["provider name", "providers: { 9x: { kind: sandbox } }\n", "1:14 providers.9x", /letters, digits/, null],
  [
    "unknown kind",
    "providers: { lab: { kind: opnai } }\n",
    "1:27 providers.lab.kind",
    /one of openai, azure, azure-anthropic, .*, bedrock-anthropic, bedrock-converse, vertex, vertex-anthropic, gemini, sandbox/,
    "openai",
  ],
  ["no address", "providers: { lab: { kind: openai } }\n", "1:14 providers.lab", /lab needs a baseUrl/, null],
  [
    "no key",
    "providers: { openai: {} }\n",
    "1:14 providers.openai",
    /OPENAI_API_KEY or providers\.openai\.apiKey$/,
    null,
  ],
  ["no key, no value", "providers:\n  openai:\n", "2:3 providers.openai", /set OPENAI_API_KEY/, null],
  [
    "key with spaces",
    "providers: { openai: { apiKey: a b } }\n",
    "1:32 providers.openai.apiKey",
    /got something else \(not shown\)/,
    null,
  ],
  [
    "address of another scheme",
    "providers: { lab: { kind: openai, baseUrl: ftp://h } }",
    "1:44 providers.lab.baseUrl",
    /http or https/,
    null,
  ],
  [
    "the address of a metadata service",
    "providers: { lab: { kind: openai, baseUrl: http://169.254.169.254/v1 } }",
    "1:44 providers.lab.baseUrl",
    /never calls/,
    null,
  ],
  [
    "the same in another spelling",
    'providers: { lab: { kind: openai, baseUrl: "http://[::ffff:a9fe:a9fe]/v1" } }',
    "1:44 providers.lab.baseUrl",
    /never calls/,
    null,
  ],
  [
    "an address to listen on",
    'providers: { lab: { kind: openai, baseUrl: "http://0.0.0.0:8000/v1" } }',
    "1:44 providers.lab.baseUrl",
    /never calls/,
    "http://127.0.0.1:8000/v1",
  ],
  [
    "the same for IPv6",
    'providers: { lab: { kind: openai, baseUrl: "http://[::]:8000/v1/" } }',
    "1:44 providers.lab.baseUrl",
    /never calls/,
    "http://127.0.0.1:8000/v1",
  ],
  [
    "address that is none",
    "providers: { lab: { kind: openai, baseUrl: h } }",
    "1:44 providers.lab.baseUrl",
    /http or https/,
    null,
  ],
  [
    "address with credentials",
    "providers: { lab: { kind: openai, baseUrl: http://u:pw@h } }",
    "1:44 providers.lab.baseUrl",
    /^(?!.*pw).*must not hold/,
    null,
  ],
  [
    "address of an endpoint",
    "providers: { lab: { kind: openai, baseUrl: http://h/v1/chat/completions } }",
    "1:44 providers.lab.baseUrl",
    /before the endpoint/,
    "http://h/v1",
  ],
  [
    "address with a query",
    "providers: { lab: { kind: openai, baseUrl: http://h/v1?a=b } }",
    "1:44 providers.lab.baseUrl",
    /without \?/,
    null,
  ],
  [
    "unknown timeout",
    "providers: { openai: { apiKey: k, timeouts: { conectMs: 1 } } }",
    "1:47 providers.openai.timeouts.conectMs",
    /unknown/,
    "connectMs",
  ],
  [
    "timeout of zero",
    "providers: { openai: { apiKey: k, timeouts: { idleMs: 0 } } }",
    "1:55 providers.openai.timeouts.idleMs",
    /from 1/,
    null,
  ],
  [
    "header name",
    "providers: { openai: { apiKey: k, headers: { 'a b': c } } }",
    "1:46 providers.openai.headers.a b",
    /header's name/,
    null,
  ],
  [
    "dialect",
    "providers: { openai: { apiKey: k, dialect: { toolIds: all } } }",
    "1:55 providers.openai.dialect.toolIds",
    /one of any/,
    null,
  ],
  ["models of the wrong type", "models: { a: 1 }\n", "1:9 models", /a list of models, got a mapping/, null],
  ["model without id", "models:\n  - provider: openai\n", "2:5 models[0]", /id is missing/, null],
  ["model without provider", "models:\n  - id: a\n", "2:5 models[0]", /provider is missing/, null],
  ["model id auto", "models:\n  - { id: auto, provider: openai }\n", "2:11 models[0].id", /other than "auto"/, null],
  [
    "unknown model key",
    "models:\n  - { id: a, provider: openai, contxt: 1 }\n",
    "2:32 models[0].contxt",
    /unknown/,
    "context",
  ],
  [
    "unknown model provider",
    "models:\n  - { id: a, provider: gogle }\n",
    "2:24 models[0].provider",
    /no provider "gogle"/,
    "google",
  ],
  [
    "model id twice",
    `${LAB}models:\n  - { id: a, provider: lab }\n  - { id: a, provider: lab }\ntiers: { NANO: [a] }\n`,
    "4:11 models[1].id",
    /already used by models\[0\]/,
    null,
  ],
  [
    "half a price",
    "models:\n  - { id: a, provider: openai, price: { input: 1 } }\n",
    "2:39 models[0].price",
    /output is missing/,
    null,
  ],
  [
    "price as text",
    "models:\n  - { id: a, provider: openai, price: { input: free, output: 1 } }\n",
    "2:48 models[0].price.input",
    /a number from 0/,
    null,
  ],
  [
    "price too fine",
    "models:\n  - { id: a, provider: openai, price: { input: 0.00000012, output: 1 } }\n",
    "2:48 models[0].price.input",
    /six decimals \(the smallest price is 0\.000001\)/,
    null,
  ],
  [
    "context of zero",
    "models:\n  - { id: a, provider: openai, context: 0 }\n",
    "2:41 models[0].context",
    /from 1/,
    null,
  ],
  [
    "unknown capability",
    "models:\n  - { id: a, provider: openai, capabilities: [tool] }\n",
    "2:47 models[0].capabilities[0]",
    /one of tools/,
    "tools",
  ],
  [
    "score above 100",
    "models:\n  - { id: a, provider: openai, bfcl: { overall: 101 } }\n",
    "2:49 models[0].bfcl.overall",
    /from 0 to 100/,
    null,
  ],
  [
    "scores without overall",
    "models:\n  - { id: a, provider: openai, bfcl: { single: 1 } }\n",
    "2:38 models[0].bfcl",
    /overall is missing/,
    null,
  ],
  [
    "unknown model tier",
    "models:\n  - { id: a, provider: openai, tier: SIMPEL }\n",
    "2:38 models[0].tier",
    /one of NANO/,
    "SIMPLE",
  ],
  [
    "price date",
    "models:\n  - { id: a, provider: openai, priceAsOf: May }\n",
    "2:43 models[0].priceAsOf",
    /a day such as/,
    null,
  ],
  ["unknown tier", "tiers: { NANOO: [gpt-5] }\n", "1:10 tiers.NANOO", /unknown key/, "NANO"],
  ["chain of the wrong type", "tiers: { NANO: gpt-5 }\n", "1:16 tiers.NANO", /a list/, null],
  [
    "unknown model in a tier",
    "tiers:\n  NANO:\n    - gpt-5-nanno\n",
    "3:7 tiers.NANO[0]",
    /no model "gpt-5-nanno"/,
    "gpt-5-nano",
  ],
  [
    "every chain empty",
    "tiers: { NANO: [], SIMPLE: [], LIGHT: [], STANDARD: [], COMPLEX: [] }\n",
    "1:8 tiers",
    /no tier has a model/,
    null,
  ],
  ["nothing at the top but a list", "- a\n", "1:1", /a mapping of settings/, null],
  ["a key twice", "server: { port: 1 }\nserver: { port: 2 }\n", "2:1", /written twice/, null],
];

describe("the file", () => {
  it.each(FILE_CASES)("%s", (_, yaml, place, message, suggestion) => {
    const expected: Problem = {
      place: `switchyard.yaml:${place}`,
      message: expect.stringMatching(message),
      suggestion,
    };
    expect(problemsOf({ yaml })).toEqual([expected]);
  });

  it("that is not YAML is rejected with its place", () => {
    const problems = problemsOf({ yaml: "server: { port: 1\nlimits: }\n" });
    expect(problems.length).toBeGreaterThan(0);
    for (const problem of problems) expect(problem.place).toMatch(/^switchyard\.yaml:\d+:\d+$/);
    expect(problems[0]?.message).toMatch(/not valid YAML/);
  });

  it("that refers to itself ends in a problem, not in a crash", () => {
    expect(problemsOf({ yaml: "tiers: &t { NANO: *t }\n" }).map((problem) => problem.message)).toContain(
      "nested too deeply",
    );
  });
});

const OTHER_SERVER = 'providers: { lab: { kind: openai, baseUrl: "http://127.0.0.1:1/v1" } }\n';
const OTHER_CASES: readonly (readonly [string, Workspace, string, RegExp, string | null])[] = [
  [
    "named file that is missing",
    { flags: { config: "no.yaml" } },
    "flag --config",
    /no\.yaml cannot be read \(ENOENT\)/,
    null,
  ],
  ["the same by variable", { env: { SWITCHYARD_CONFIG: "no.yaml" } }, "environment SWITCHYARD_CONFIG", /ENOENT/, null],
  [
    "an address as the data folder",
    { flags: { data: "http://127.0.0.1:1" } },
    "flag --data",
    /expected a folder, not an address/,
    null,
  ],
  [
    "the same by variable",
    { env: { SWITCHYARD_DATA: "s3://bucket" } },
    "environment SWITCHYARD_DATA",
    /a folder/,
    null,
  ],
  ["unknown flag", { flags: { prot: "1" } }, "flag --prot", /unknown flag/, "--port"],
  ["bad flag", { flags: { port: "x" } }, "flag --port", /got "x"/, null],
  ["bad variable", { env: { PORT: "1e3" } }, "environment PORT", /got "1e3"/, null],
  ["bad truth value", { env: { DEBUG_ROUTING: "maybe" } }, "environment DEBUG_ROUTING", /true or false/, null],
  [
    "bad secret, not shown",
    { env: { DATABASE_URL: "oracle://u:pw@h" } },
    "environment DATABASE_URL",
    /not shown/,
    null,
  ],
  [
    "unknown baseline",
    { env: { SWITCHYARD_BASELINE: "claude-opus-4-9" } },
    "environment SWITCHYARD_BASELINE",
    /no model/,
    "claude-opus-4-8",
  ],
  [
    "secret given twice",
    { env: { GROQ_API_KEY: "a", GROQ_API_KEY_FILE: "b" } },
    "environment GROQ_API_KEY",
    /both/,
    null,
  ],
  ["secret file missing", { env: { GROQ_API_KEY_FILE: "b" } }, "environment GROQ_API_KEY_FILE", /ENOENT/, null],
  [
    "secret file empty",
    { env: { GROQ_API_KEY_FILE: "b" }, files: { b: "\n" } },
    "environment GROQ_API_KEY_FILE",
    /empty/,
    null,
  ],
  ["a provider without a single model", { yaml: OTHER_SERVER }, "tiers", /configured: lab/, null],
];

describe("variables and flags", () => {
  it.each(OTHER_CASES)("%s", (_, workspace, place, message, suggestion) => {
    expect(problemsOf(workspace)).toEqual([{ place, message: expect.stringMatching(message), suggestion }]);
  });

  it("that hold a short admin token are a warning, once and without the token", () => {
    const { warnings } = goodLoad({ env: { SWITCHYARD_ADMIN_TOKEN: "hunter2" } });
    expect(warnings).toEqual([
      {
        place: "environment SWITCHYARD_ADMIN_TOKEN",
        message: expect.stringContaining("openssl rand -hex 32"),
        suggestion: null,
      },
    ]);
    expect(JSON.stringify(warnings)).not.toContain("hunter2");
    expect(goodLoad({ env: { SWITCHYARD_ADMIN_TOKEN: "0123456789abcdef" } }).warnings).toEqual([]);
  });

  it("with a vendor's key that another address does not get are a warning", () => {
    const env = { OPENAI_API_KEY: "sk-real" };
    const warningsOf = (entry: string) => goodLoad({ yaml: `providers: { openai: { ${entry} } }`, env }).warnings;
    expect(warningsOf('baseUrl: "http://localhost:8000/v1"')).toEqual([
      {
        place: "switchyard.yaml:1:14 providers.openai",
        message: expect.stringContaining(`write apiKey: \${OPENAI_API_KEY}`),
        suggestion: null,
      },
    ]);
    expect(warningsOf(`baseUrl: "http://localhost:8000/v1", apiKey: "\${OPENAI_API_KEY}"`)).toEqual([]);
    expect(warningsOf('baseUrl: "http://localhost:8000/v1", headers: { authorization: "Basic eA==" }')).toEqual([]);
    expect(warningsOf('baseUrl: "https://api.openai.com/v1"')).toEqual([]);
  });

  it("of ours that nothing reads are a warning, but for the key that our guides give to clients", () => {
    const { warnings } = goodLoad({ env: { SWITCHYARD_ADMIN_TOKN: "x", SWITCHYARD_KEY: "sk-sw-x" } });
    expect(warnings).toEqual([
      { place: "environment SWITCHYARD_ADMIN_TOKN", message: expect.any(String), suggestion: "SWITCHYARD_ADMIN_TOKEN" },
    ]);
  });
});

describe("all at once", () => {
  const yaml = `servr: {}
server: { port: x }
providers: { lab: { kind: openai } }
models:
  - { provider: lab }
  - { id: b, provider: lba, price: { input: -1, output: 1 } }
tiers: { NANO: [b, c] }
`;

  it("everything is reported in one go, and nothing that merely follows", () => {
    const places = problemsOf({ yaml, env: { PORT: "y" }, flags: { nope: "1" } }).map((problem) => problem.place);
    expect([...places].sort()).toEqual([
      "environment PORT",
      "flag --nope",
      "switchyard.yaml:1:1 servr",
      "switchyard.yaml:2:17 server.port",
      "switchyard.yaml:3:14 providers.lab",
      "switchyard.yaml:5:5 models[0]",
      "switchyard.yaml:6:24 models[1].provider",
      "switchyard.yaml:6:45 models[1].price.input",
      "switchyard.yaml:7:20 tiers.NANO[1]",
    ]);
  });

  it("is printed one line each", () => {
    const loaded = loadIn({ yaml: "servr: {}\ncatalog: x\n" });
    expect(loaded.ok).toBe(false);
    if (loaded.ok) return;
    expect(formatProblems(loaded.problems)).toBe(
      'switchyard.yaml:1:1 servr: unknown key "servr". Did you mean "server"?\n' +
        'switchyard.yaml:2:10 catalog: expected one of builtin, none, got "x".',
    );
  });
});
