// The doctor's checks of a configuration. They never show a secret.

import { describe, expect, it } from "vitest";
import { readBuiltin } from "../../../src/catalog/builtin.ts";
import { type Check, diagnose } from "../../../src/config/doctor.ts";
import { loadIn, WITHOUT_ANTHROPIC, type Workspace } from "./workspace.ts";

const NOW_MS = Date.parse("2026-11-15");

function checks(workspace: Workspace, nowMs = NOW_MS): readonly Check[] {
  return diagnose(loadIn(workspace), workspace.env ?? {}, nowMs);
}

function find(list: readonly Check[], start: string): Check | undefined {
  return list.find((check) => check.what.startsWith(start));
}

describe("diagnose", () => {
  it("fails each problem of a configuration that does not load", () => {
    expect(checks({ yaml: "servr: {}\ncatalog: x\n" })).toEqual([
      { state: "fail", what: 'switchyard.yaml:1:1 servr: unknown key "servr"', fix: "Write server" },
      { state: "fail", what: expect.stringContaining("2:10 catalog"), fix: "Correct it at the place named" },
    ]);
  });

  it("without configuration warns of the sandbox only", () => {
    const list = checks({});
    const warnings = list.filter((check) => check.state !== "ok");
    expect(warnings).toEqual([{ state: "warn", what: expect.stringContaining("simulated"), fix: expect.any(String) }]);
    expect(find(list, "Configuration from defaults")).toBeDefined();
    expect(find(list, `COMPLEX: ${readBuiltin().tiers.chains.COMPLEX.join(", ")}`)?.state).toBe("ok");
    const { asOf } = readBuiltin().tiers;
    const baseline = `gpt-6.1-sol ($2 in, $10 out per million tokens, price of ${asOf})`;
    expect(find(list, `Savings are counted against ${baseline}`)).toBeDefined();
    expect(find(list, "Database: SQLite")).toBeDefined();
  });

  it("names every built-in provider, those that are off in one line", () => {
    const env = { GROQ_API_KEY: "gsk-secret", ANTHROPIC_API_KEY: "sk-secret" };
    const list = checks({ env, yaml: "tiers: { COMPLEX: [] }\n", supportedKinds: WITHOUT_ANTHROPIC });
    const text = list.map(({ what }) => what).join("\n");
    for (const row of readBuiltin().providers)
      expect(text).toMatch(new RegExp(`^${row.name}: |${row.keyVariable}`, "m"));
    expect(find(list, "Groq: ")).toEqual({ state: "ok", what: "Groq: configured, 6 models", fix: null });
    expect(find(list, "Not configured")?.what).toMatch(/configured: OPENAI_API_KEY, GEMINI_API_KEY, /);
    expect(find(list, "Anthropic: ")?.state).toBe("warn");
    expect(find(list, "COMPLEX: no model")?.state).toBe("warn");
    expect(JSON.stringify(list)).not.toContain("secret");
  });

  it("warns of an Azure resource without deployments, with the next step", () => {
    const azure = `azure-eu: { kind: azure, baseUrl: "https://eu.openai.azure.com", apiKey: a }`;
    const list = checks({ yaml: `providers: { openai: { apiKey: b }, ${azure} }\n` });
    expect(find(list, "azure-eu: configured, 0 models")).toMatchObject({
      state: "warn",
      fix: expect.stringContaining("list its deployments under providers.azure-eu.deployments"),
    });
  });

  it("says under which address a gateway on the network is opened", () => {
    expect(find(checks({}), "The dashboard is served")).toBeUndefined();
    expect(find(checks({ env: { HOST: "0.0.0.0" } }), "The dashboard is served")?.fix).toContain(
      "SWITCHYARD_PUBLIC_URL",
    );
    const env = { HOST: "0.0.0.0", SWITCHYARD_PUBLIC_URL: "https://llm.example.com/" };
    expect(find(checks({ env }), "Links begin with https://llm.example.com")?.state).toBe("ok");
    expect(find(checks({ env }), "No proxy is trusted")).toMatchObject({
      state: "warn",
      fix: expect.stringContaining("SWITCHYARD_TRUSTED_PROXIES"),
    });
    const behind = { ...env, SWITCHYARD_TRUSTED_PROXIES: "10.0.0.0/8" };
    expect(find(checks({ env: behind }), "No proxy is trusted")).toBeUndefined();
  });

  it("warns of old prices", () => {
    expect(find(checks({}), "Prices in use")?.state).toBe("ok");
    const later = find(checks({}, Date.parse("2027-06-11")), "Prices in use");
    expect(later).toMatchObject({ state: "warn", what: expect.stringContaining("205 days old") });
  });

  it("warns of models in chains that retire soon or have retired", () => {
    const fields = "provider: openai, price: { input: 1, output: 2 }, retires: 2030-06-15";
    const workspace = {
      env: { OPENAI_API_KEY: "sk-secret" },
      yaml: `models: [{ id: old, ${fields} }]\ntiers: { LIGHT: [old, gpt-6-luna] }\n`,
    };
    const at = (day: string) => find(checks(workspace, Date.parse(day)), "old ")?.what;
    expect([at("2030-05-15"), at("2030-05-16"), at("2030-06-15")]).toEqual([
      undefined,
      "old retires on 2030-06-15",
      "old retired on 2030-06-15 and has left its chains",
    ]);
  });

  it("names the kind of a database without its password", () => {
    const list = checks({ env: { DATABASE_URL: "postgres://u:pw-secret@h/d" } });
    expect(find(list, "Database: PostgreSQL")).toBeDefined();
    expect(JSON.stringify(list)).not.toContain("pw-secret");
  });
});
