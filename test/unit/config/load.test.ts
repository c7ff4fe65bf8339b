// Loading a valid configuration: defaults, the whole file, providers and references.

import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { load } from "../../../src/config/load.ts";
import { goodLoad, makeFolder, WITHOUT_ANTHROPIC } from "./workspace.ts";

const WHOLE_FILE = `
server:   { host: 127.0.0.1, port: 8787 }
database: sqlite:./data/switchyard.db        # or postgres://user:pass@host/db
redis:    redis://127.0.0.1:6379             # optional
routing:  { baseline: lab-small, markup: 0.05 }      # markup as a fraction of provider cost
limits:   { requestsPerMinute: 600 }
logging:  { content: false, retentionDays: 30 }
providers:
  openai:    { kind: openai,    baseUrl: https://api.openai.com/v1,   apiKey: \${OPENAI_API_KEY} }
  anthropic: { kind: anthropic, baseUrl: https://api.anthropic.com,   apiKey: \${ANTHROPIC_API_KEY} }
  lab:       { kind: openai,    baseUrl: http://127.0.0.1:8000/v1,
               timeouts: { connectMs: 5000, firstByteMs: 60000, idleMs: 120000, totalMs: 600000 } }
catalog:  builtin
models:
  - id: lab-small
    provider: lab
    upstream: qwen3-8b
    price: { input: 0.10, output: 0.30, cacheRead: 0.02, cacheWrite: 0.12 }
    context: 128000
    maxOutput: 16384
    capabilities: [tools, vision, json, reasoning]
    bfcl: { overall: 61.2, single: 70.1, parallel: 66.0, multi_turn: 41.0, web_search: 30.0, memory: 22.0, optional: 80.0 }
tiers:
  NANO: [lab-small]
  SIMPLE: [lab-small]
  LIGHT: [lab-small]
  STANDARD: [lab-small]
  COMPLEX: [lab-small]
`;

describe("a vendor with two addresses", () => {
  const NATIVE = "https://generativelanguage.googleapis.com/v1beta";
  const google = (entry: string | null): unknown => {
    const yaml = entry === null ? "" : `providers:\n  google: ${entry}\n`;
    return goodLoad({ yaml, env: { GEMINI_API_KEY: "g" } }).settings.catalog.providers.get("google");
  };

  it.each([
    [null, "gemini", NATIVE, "g"],
    ["{}", "gemini", NATIVE, "g"],
    ["{ kind: gemini }", "gemini", NATIVE, "g"],
    [`{ kind: openai, baseUrl: ${NATIVE}/openai }`, "openai", `${NATIVE}/openai`, "g"],
    [`{ baseUrl: ${NATIVE}/openai }`, "openai", `${NATIVE}/openai`, "g"],
    ["{ kind: openai }", "openai", `${NATIVE}/openai`, "g"],
    ["{ baseUrl: https://proxy.example/v1beta, apiKey: p }", "gemini", "https://proxy.example/v1beta", "p"],
    ["{ kind: openai, baseUrl: https://proxy.example/v1, apiKey: p }", "openai", "https://proxy.example/v1", "p"],
  ])("written as %s is called as %s", (entry, kind, baseUrl, apiKey) => {
    expect(google(entry)).toMatchObject({ kind, baseUrl, apiKey });
  });

  it("has the dialect of the one in use", () => {
    const dialectOf = (yaml: string): unknown =>
      goodLoad({ yaml, env: { GEMINI_API_KEY: "g" } }).settings.catalog.models.get("gemini-3.1-flash-lite")?.dialect;
    expect(dialectOf("")).toMatchObject({ thinking: "level", needsThoughtSignatures: true, refuses: [] });
    expect(dialectOf("providers:\n  google: { kind: openai }\n")).toMatchObject({
      outputCap: "max_tokens",
      reasoningHistory: "drop",
    });
  });
});

describe("without any configuration", () => {
  it("has the defaults and the sandbox", () => {
    const cwd = makeFolder();
    const loaded = load({ flags: {}, env: {}, cwd });
    expect(loaded).toMatchObject({ ok: true, sources: ["defaults"], warnings: [] });
    if (!loaded.ok) return;
    const { catalog, options, configuration, ...settings } = loaded.settings;
    expect(configuration?.locks).toEqual([]);
    expect(new Set(options.map(({ origin }) => origin))).toEqual(new Set(["default"]));
    expect(settings).toEqual({
      server: {
        host: "127.0.0.1",
        port: 8787,
        isReadOnly: false,
        publicUrl: null,
        allowedHosts: [],
        bodyLimitBytes: 33_554_432,
        uploadLimitBytes: 268_435_456,
        corsOrigins: [],
        lameDuckSeconds: 0,
        drainSeconds: 600,
        writeStallMs: 60_000,
        ...{ socketAgeMs: 3_600_000, socketIdleMs: 900_000 },
        trustedProxies: [],
        adminToken: null,
        isLocalDiscovered: true,
        isWarmedUp: true,
        workers: "auto",
        ...{ headersTimeoutMs: 15_000, bodyGraceMs: 10_000, requestTimeoutMs: 300_000, keepAliveMs: 75_000 },
      },
      database: `sqlite:${resolve(cwd, "data/switchyard.db")}`,
      dataDir: resolve(cwd, "data"),
      redis: null,
      routing: {
        isRoutingDebugged: false,
        answerWithinMs: 120_000,
        sessionMinutes: 240,
        marksCaches: true,
        sendsCacheKeys: true,
      },
      billing: { billingMode: "prepaid", starterCredits: 5 },
      health: {
        failuresInRow: 5,
        failureShare: 0.5,
        failureCallsMin: 10,
        healthWindowMs: 30_000,
        healthOpenMs: 5_000,
        healthOpenMsMax: 60_000,
      },
      limits: {
        requestsPerMinute: 600,
        inFlight: 5_000,
        inFlightPerKey: 2_500,
        connections: 20_000,
        storedBytesPerMinute: 134_217_728,
        endUserHeaders: ["x-openwebui-user-id", "x-openwebui-user-email"],
        wrongKeysPerMinute: 1_000,
        queueMs: 500,
        eventLoopDelayMs: 300,
        memoryPercent: 85,
        bodyBytes: null,
      },
      tracing: null,
      metricExport: null,
      logExport: null,
      logging: { logLevel: "info", logContent: false, retentionDays: 30, auditRetentionDays: 365 },
      errors: { errorDetail: "caller" },
      responses: {
        responsesRetentionDays: 30,
        responsesBytesPerAccount: 1_073_741_824,
        conversationBytes: 16_777_216,
      },
      files: {
        filesRetentionDays: 30,
        filesBytesPerAccount: 1_073_741_824,
        filesPerAccount: 10_000,
        batchConcurrency: 4,
        batchBytesPerAccount: 1_073_741_824,
        batchNativeFrom: 100,
      },
      secret: null,
      identityProviders: [],
      prices: {
        priceCheck: "daily",
        priceCheckHours: 24,
        priceListUrl: expect.stringMatching(/^https:.*\.json$/),
        genaiPricesUrl: expect.stringMatching(/^https:.*\.json$/),
        openrouterPricesUrl: expect.stringMatching(/^https:.*\/models$/),
        catalogueKeys: [],
        priceMaxChangePercent: 200,
        adoption: "named",
      },
      cascade: {
        cascadeWebhooks: [],
        cascadeWebhookSecret: null,
        cascadeWebhookTimeoutMs: 30_000,
        cascadeWebhookPrivate: false,
      },
      search: {
        searchProvider: "none",
        searchApiKey: null,
        searchBaseUrl: null,
        searchResults: null,
        searchPriceUsd: 0.005,
        searchMaxRounds: 3,
        searchTimeoutMs: 10_000,
        searchFetch: "off",
        searchFetchPriceUsd: 0.001,
        searchFetchRobots: false,
        searchFetchPrivate: false,
      },
      alerts: {
        lowBalance: 1,
        balanceDays: 3,
        spikeFactor: 5,
        errorPercent: 10,
        fallbackPercent: 25,
        alertsPrivate: false,
        mailServer: null,
        mailFrom: null,
      },
    });
    expect([...catalog.providers.keys()]).toEqual(["sandbox"]);
    expect(catalog.markupPpm).toBe(50_000);
  });

  it("takes an empty file, and one with comments only, for none", () => {
    expect(goodLoad({ yaml: "" }).settings.server.port).toBe(8787);
    expect(goodLoad({ yaml: "# nothing\nproviders:\nmodels:\n" }).settings.catalog.providers.has("sandbox")).toBe(true);
  });
});

describe("the whole file", () => {
  const env = { OPENAI_API_KEY: "sk-a", ANTHROPIC_API_KEY: "sk-b" };

  it("is read as written", () => {
    const { settings, sources, warnings } = goodLoad({ yaml: WHOLE_FILE, env, supportedKinds: WITHOUT_ANTHROPIC });
    const { catalog } = settings;
    expect(sources).toEqual(["defaults", "switchyard.yaml", "environment (OPENAI_API_KEY, ANTHROPIC_API_KEY)"]);
    expect(settings.redis).toBe("redis://127.0.0.1:6379");
    expect(catalog.baseline.id).toBe("lab-small");
    expect(catalog.providers.get("openai")?.apiKey).toBe("sk-a");
    expect(catalog.providers.get("lab")).toMatchObject({ kind: "openai", apiKey: null });
    expect(catalog.providers.get("lab")?.timeouts.isFirstByteConfigured).toBe(true);
    expect(catalog.models.get("lab-small")).toMatchObject({
      upstream: "qwen3-8b",
      price: { input: 100_000, output: 300_000, cacheRead: 20_000, cacheWrite: 120_000 },
      scores: { overall: 61.2, multi_turn: 41, optional: 80 },
      priceSource: "switchyard.yaml",
      tier: "NANO",
    });
    expect(catalog.models.get("lab-small")?.priceAsOf).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(catalog.chains.COMPLEX.map((model) => model.id)).toEqual(["lab-small"]);
    expect(warnings.map((warning) => warning.place)).toEqual(["switchyard.yaml:10:14 providers.anthropic"]);
  });
});

describe("providers", () => {
  it("are switched on by the vendors' variables", () => {
    const { settings } = goodLoad({ env: { GROQ_API_KEY: "gsk", MISTRAL_API_KEY: " ", DEEPSEEK_API_KEY: "" } });
    expect([...settings.catalog.providers.keys()]).toEqual(["groq"]);
    expect(settings.catalog.providers.get("groq")).toEqual({
      id: "groq",
      kind: "openai",
      label: "OpenAI chat-completions",
      format: "openai-chat",
      furtherFormats: ["openai-responses"],
      hasEndpoints: true,
      auth: { scheme: "bearer" },
      framing: "sse",
      transport: "network",
      baseUrl: "https://api.groq.com/openai/v1",
      apiKey: "gsk",
      headers: {},
      timeouts: {
        connectMs: 5000,
        firstByteMs: 60_000,
        idleMs: 120_000,
        totalMs: 600_000,
        isFirstByteConfigured: false,
      },
      allowsPrivate: false,
    });
  });

  it("may lead to a private network where somebody wrote the address, or says so", () => {
    const yaml = [
      "providers:",
      "  mine: { kind: openai, baseUrl: https://models.example/v1 }",
      "  strict: { kind: openai, baseUrl: https://models.example/v1, allowPrivateNetwork: false }",
      "  groq: { apiKey: gsk }",
      "  mistral: { apiKey: m, allowPrivateNetwork: true }",
      "",
    ].join("\n");
    const { providers } = goodLoad({ files: { "switchyard.yaml": yaml } }).settings.catalog;
    expect([...providers.values()].map(({ id, allowsPrivate }) => [id, allowsPrivate])).toEqual([
      ["mine", true],
      ["strict", false],
      ["groq", false],
      ["mistral", true],
    ]);
  });

  it("with a built-in name inherit its address, kind and dialect", () => {
    const yaml =
      "providers:\n  mistral:\n    apiKey: abc\n    timeouts: { idleMs: 9 }\n    dialect: { refuses: [seed] }\n";
    const { catalog } = goodLoad({ yaml }).settings;
    expect(catalog.providers.get("mistral")).toMatchObject({ kind: "openai", baseUrl: "https://api.mistral.ai/v1" });
    expect(catalog.providers.get("mistral")?.timeouts).toMatchObject({ idleMs: 9, connectMs: 5000 });
    const dialect = catalog.models.get("mistral-small-latest")?.dialect;
    expect(dialect?.toolIds).toBe("alphanumeric-9");
    expect(dialect?.refuses).toEqual(expect.arrayContaining(["user", "seed"]));
  });

  it("of one's own get requests unchanged, trimmed addresses and extra headers", () => {
    const yaml = `
providers: { lab: { kind: openai, baseUrl: "http://127.0.0.1:8000/v1//", headers: { X-Team: blue } } }
models: [{ id: a, provider: lab, price: { input: 0, output: 0 } }]
tiers: { NANO: [a] }`;
    const { catalog } = goodLoad({ yaml }).settings;
    expect(catalog.providers.get("lab")).toMatchObject({
      baseUrl: "http://127.0.0.1:8000/v1",
      headers: { "X-Team": "blue" },
    });
    expect(catalog.models.get("a")).toMatchObject({ context: 128_000, maxOutput: 16_384 });
    expect(catalog.models.get("a")?.dialect).toMatchObject({ outputCap: "as-sent", refuses: [], toolIds: "any" });
  });

  it("take the variable's key over the file's, but never at another address", () => {
    const env = { OPENAI_API_KEY: "from-env" };
    const own = goodLoad({ yaml: "providers: { openai: { apiKey: from-file } }", env });
    expect(own.settings.catalog.providers.get("openai")?.apiKey).toBe("from-env");
    const other = goodLoad({ yaml: "providers: { openai: { baseUrl: http://127.0.0.1:1/v1 } }", env });
    expect(other.settings.catalog.providers.get("openai")?.apiKey).toBeNull();
  });
});

describe("references to variables", () => {
  it.each([
    [`port: \${P}`, { P: "99" }, 99],
    [`port: \${P:-98}`, {}, 98],
    [`port: \${P:-98}`, { P: "" }, 98],
    [`port: \${A}\${B}`, { A: "1", B: "2" }, 12],
  ])("%s with %j", (line, env, port) => {
    expect(goodLoad({ yaml: `server:\n  ${line}\n`, env }).settings.server.port).toBe(port);
  });

  it("stand in flow mappings, quotes and comments, and can be escaped", () => {
    const yaml = `
# \${UNSET} in a comment
providers:
  lab: { kind: openai, baseUrl: "http://\${HOSTNAME:-localhost}/v1", apiKey: $\${LITERAL} }
  two: { kind: openai, baseUrl: 'http://127.0.0.1/\${P:-a, b}', apiKey: \${K} }
models: [{ id: a, provider: lab, price: { input: 1, output: 1 }, tier: NANO }]`;
    const { catalog } = goodLoad({ yaml, env: { K: "8080" } }).settings;
    expect(catalog.providers.get("lab")).toMatchObject({ baseUrl: "http://localhost/v1", apiKey: `\${LITERAL}` });
    expect(catalog.providers.get("two")?.apiKey).toBe("8080");
    expect(catalog.chains.NANO.map((model) => model.id)).toEqual(["a"]);
  });

  it("follow anchors", () => {
    const yaml = `server: &s { port: \${P} }\nlimits: { requestsPerMinute: 5 }\ntiers: { NANO: &n [gpt-5], LIGHT: *n }\n`;
    const { settings } = goodLoad({ yaml, env: { P: "7" } });
    expect(settings.catalog.chains.LIGHT.map((model) => model.id)).toEqual(["gpt-5"]);
  });
});

describe("databases and folders", () => {
  it.each([
    ["sqlite:./a.db", {}, "a.db"],
    ["sqlite:/var/a.db", {}, "/var/a.db"],
    [undefined, { SWITCHYARD_DATA: "elsewhere" }, "elsewhere/switchyard.db"],
  ])("%s with %j", (database, extra, path) => {
    const cwd = makeFolder();
    const loaded = load({ flags: {}, env: { DATABASE_URL: database, ...extra }, cwd });
    expect(loaded.ok && loaded.settings.database).toBe(`sqlite:${resolve(cwd, path)}`);
  });

  it.each([
    ["postgres://h/d", undefined, 5],
    ["sqlite::memory:", undefined, 0],
    ["sqlite::memory:", "7", 7],
  ])(
    "with %s a process goes on taking requests for %s s after SIGTERM, which is %s",
    (DATABASE_URL, given, seconds) => {
      const env = { DATABASE_URL, ...(given === undefined ? {} : { SWITCHYARD_LAME_DUCK_SECONDS: given }) };
      const loaded = load({ flags: {}, env, cwd: makeFolder() });
      expect(loaded).toMatchObject({ ok: true, settings: { server: { lameDuckSeconds: seconds } } });
    },
  );

  it.each(["postgres://u:p@h/d", "postgresql://h/d", "sqlite::memory:"])("%s is kept", (DATABASE_URL) => {
    expect(goodLoad({ env: { DATABASE_URL } }).settings.database).toBe(DATABASE_URL);
  });
});

describe("secrets in files", () => {
  it("are read for the table's variables, vendors' keys and references", () => {
    const files = { token: "t0ken\n", key: "sk-file\n" };
    const env = { SWITCHYARD_ADMIN_TOKEN_FILE: "token", OPENAI_API_KEY_FILE: "key" };
    const plain = goodLoad({ files, env });
    expect(plain.settings.server.adminToken).toBe("t0ken");
    expect(plain.settings.catalog.providers.get("openai")?.apiKey).toBe("sk-file");
    expect(plain.sources.at(-1)).toContain("OPENAI_API_KEY_FILE");
    const yaml = `providers: { openai: { apiKey: \${OPENAI_API_KEY} } }`;
    expect(goodLoad({ files, env, yaml }).settings.catalog.providers.get("openai")?.apiKey).toBe("sk-file");
  });
});

describe("the unsure tier", () => {
  it("is LIGHT unless file or variable say otherwise", () => {
    expect(goodLoad({}).settings.catalog.unsureTier).toBe("LIGHT");
    const env = { SWITCHYARD_UNSURE_TIER: "STANDARD" };
    expect(goodLoad({ env }).settings.catalog.unsureTier).toBe("STANDARD");
  });
});

describe("markup", () => {
  it.each([
    ["0", 0],
    ["0.05", 50_000],
    ["0.000001", 1],
    ["0.29", 290_000],
    ["10", 10_000_000],
  ])("%s is %i parts per million", (SWITCHYARD_MARKUP, ppm) => {
    expect(goodLoad({ env: { SWITCHYARD_MARKUP } }).settings.catalog.markupPpm).toBe(ppm);
  });
});

describe("truth in variables", () => {
  it.each([
    ["1", true],
    ["true", true],
    ["YES", true],
    ["0", false],
    ["no", false],
    ["", false],
  ])("DEBUG_ROUTING=%s is %s", (DEBUG_ROUTING, isOn) => {
    expect(goodLoad({ env: { DEBUG_ROUTING } }).settings.routing.isRoutingDebugged).toBe(isOn);
  });
});

describe("the catalogue of the file", () => {
  it("is one word, or a mapping with what to do about new models", () => {
    const models = "models: [{ id: m, provider: sandbox, price: { input: 1, output: 1 } }]\ntiers: { LIGHT: [m] }";
    const loadWith = (catalog: string) => goodLoad({ yaml: `${catalog}\n${models}` }).settings;
    for (const [catalog, size, adoption] of [
      ["catalog: none", 1, "named"],
      ["catalog: { use: none, adopt: auto }", 1, "auto"],
      ["catalog: { adopt: off }", 2, "off"],
    ] as const) {
      const { catalog: built, prices } = loadWith(catalog);
      expect([catalog, Math.min(built.models.size, 2), prices.adoption]).toEqual([catalog, size, adoption]);
    }
  });
});
