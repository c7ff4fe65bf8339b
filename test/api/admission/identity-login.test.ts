// `switchyard login`: the device flow against a real identity provider, and a request with the token that it prints.

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { login } from "../../../src/cli/access/login.ts";
import { identityChecks } from "../../../src/cli/doctor/identity.ts";
import { load } from "../../../src/config/load.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type RecordedTerminal, recordTerminal } from "../../support/gateway/terminal.ts";
import { browse } from "../../support/identity/browsing.ts";
import { type IdentityServer, startIdentityServer } from "../../support/identity/identity-server.ts";

let idp: IdentityServer;
let gateway: TestGateway;
let home: string;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "switchyard-login-"));
  idp = await startIdentityServer();
  gateway = await startGateway({ env: variables() });
  await idp.open(gateway.url, "oidc");
  idp.person = { subject: "dev", claims: { email: "dev@example.com", email_verified: true } };
});
afterAll(async () => {
  await gateway.stop();
  await idp.close();
  rmSync(home, { recursive: true, force: true });
});

function variables(): Record<string, string> {
  return {
    SWITCHYARD_OIDC_ISSUER: idp.issuer,
    SWITCHYARD_OIDC_AUDIENCES: "switchyard-cli",
    SWITCHYARD_OIDC_DEVICE_CLIENT_ID: "switchyard-cli",
    SWITCHYARD_OIDC_ACCOUNT: "default",
  };
}

function run(terminal: RecordedTerminal): Promise<number> {
  return login({ command: "login", words: [], flags: { url: gateway.url } }, terminal);
}

/** Confirms the code as a person would in a browser. */
async function confirm(url: string): Promise<void> {
  const browser = browse();
  const page = await (await browser.fetch(url)).text();
  const fieldsOf = (html: string): URLSearchParams =>
    new URLSearchParams(
      [...html.matchAll(/<input[^>]*name="(\w+)"[^>]*value="([^"]*)"/g)].map(([, name = "", value = ""]) => [
        name,
        value,
      ]),
    );
  const post = async (fields: URLSearchParams): Promise<Response> => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    return browser.fetch(`${idp.issuer}/device`, { method: "POST", body: fields, headers });
  };
  const asked = fieldsOf(await (await post(fieldsOf(page))).text());
  asked.set("confirm", "yes");
  const answer = await post(asked);
  await browser.visit(new URL(answer.headers.get("location") ?? "", idp.issuer).href);
}

it("prints a token that /v1 takes, keeps it for its user alone, and prints it again without asking", async () => {
  const terminal = recordTerminal({ env: { HOME: home }, ask: async () => "" });
  let confirming: Promise<void> | null = null;
  const say = (text: string): void => {
    confirming = confirm(/^Open (\S+) and confirm the code/.exec(text)?.[1] ?? "");
  };
  expect(await run({ ...terminal, say })).toBe(0);
  await confirming;
  const token = terminal.takeOut().trim();
  const answer = await gateway.post("/v1/chat/completions", HELLO, { authorization: `Bearer ${token}` });
  expect(answer.status).toBe(200);
  const path = join(home, ".config", "switchyard", "tokens.json");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, "utf8")).toContain(token);
  const helper = recordTerminal({ env: { HOME: home } });
  expect([await run(helper), helper.takeOut().trim()]).toEqual([0, token]);
  const kept = readFileSync(path, "utf8");
  const later = recordTerminal({ env: { HOME: home }, now: () => Date.now() + 500_000 });
  expect(await run(later)).toBe(0);
  // Two tokens of one second are the same text, so the file says that there is a new one.
  const renewed = later.takeOut().trim();
  expect(renewed).toMatch(/^eyJ/);
  expect(readFileSync(path, "utf8")).not.toBe(kept);
  expect(readFileSync(path, "utf8")).toContain(renewed);
});

it("shows a kept refresh token to the issuer that gave it alone, whatever the gateway names now", async () => {
  const path = join(home, ".config", "switchyard", "tokens.json");
  const kept = JSON.parse(readFileSync(path, "utf8")) as Record<string, { issuer: string }>;
  for (const each of Object.values(kept)) each.issuer = "https://before.example.com";
  writeFileSync(path, JSON.stringify(kept));
  idp.asked.length = 0;
  const later = recordTerminal({ env: { HOME: home }, now: () => Date.now() + 900_000 });
  expect([await run(later), later.takeOut()]).toEqual([1, ""]);
  expect(idp.asked).not.toContain("/token");
});

it("waits for nobody where no person can answer, and says when the gateway takes no tokens", async () => {
  const helper = recordTerminal({ env: { HOME: join(home, "nobody") } });
  expect([await run(helper), helper.takeOut()]).toEqual([1, ""]);
  expect(helper.takeSaid()).toMatch(/Run in a terminal: .*login/);
  const plain = await startGateway();
  const terminal = recordTerminal({ env: { HOME: home } });
  const code = await login({ command: "login", words: [], flags: { url: plain.url } }, terminal);
  await plain.stop();
  expect([code, terminal.takeSaid()]).toEqual([1, expect.stringContaining("takes no tokens")]);
});

it("the doctor says whether the issuer answers, and which callback to register", async () => {
  const loaded = load({ flags: {}, env: { ...variables(), SWITCHYARD_OIDC_CLIENT_ID: "x" }, cwd: home });
  if (!loaded.ok) throw new Error("the configuration is refused");
  const { settings } = loaded;
  expect(await identityChecks(settings)).toMatchObject([
    { state: "ok", what: `Identity provider single sign-on: ${idp.issuer} answers` },
    { state: "warn", what: expect.stringContaining("/api/sign-in/oidc/callback") },
  ]);
  idp.isDown = true;
  expect(await identityChecks(settings)).toMatchObject([{ state: "fail" }, { state: "warn" }]);
  idp.isDown = false;
});
