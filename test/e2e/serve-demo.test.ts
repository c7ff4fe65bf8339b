// `switchyard serve --demo` as a newcomer runs it: one command, a dashboard full of data, and nothing left behind.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { ensureBuild } from "../../scripts/setup.mjs";
import { recordTerminal } from "../support/gateway/terminal.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/switchyard.mjs");
const TOKEN = "test-admin-token";

beforeAll(() => ensureBuild());

test("generated traffic is served at once, labelled as such, and deleted at the end", async () => {
  const { cwd } = recordTerminal();
  // The provider named here would be called by any other server.
  const env = { PATH: process.env.PATH, HOME: cwd, SWITCHYARD_ADMIN_TOKEN: TOKEN, OPENAI_API_KEY: "sk-none" };
  const child = spawn(process.execPath, [PROGRAM, "serve", "--demo", "--read-only", "--port", "0"], { cwd, env });
  let out = "";
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      if (out.includes("Try it")) resolve();
    });
    closed.then((code) => reject(new Error(`ended with ${code}: ${out}`)));
  });
  expect(out).toMatch(/^ {2}Demo +4,000 generated requests over 60 days/m);
  const url = /Base URL +(\S+)\/v1/.exec(out)?.[1] ?? "";
  // A month, because a day of it costs cents.
  expect(out).toContain(`Dashboard   ${url}/?range=30d\n`);
  const key = /API key +(sk-service-\S+)/.exec(out)?.[1] ?? "";
  const file = /store sqlite:(\S+)/.exec(out)?.[1] ?? "";
  expect(existsSync(file)).toBe(true);

  const asked = await fetch(`${url}/api/requests?limit=5`, { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(((await asked.json()) as { data: unknown[] }).data).toHaveLength(5);
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "Hello" }] }),
  });
  expect(answer.status).toBe(200);
  expect(await answer.text()).toMatch(/simulated|sandbox/i);

  // A visitor is signed in by the page's first call, and reads prompts; --read-only refuses what would change something.
  const session = await fetch(`${url}/api/session`);
  expect(await session.json()).toMatchObject({
    user: { email: "demo@example.com" },
    readOnly: true,
    setupNeeded: false,
    demo: true,
    sandbox: false,
  });
  const cookie = session.headers
    .getSetCookie()
    .map((each) => each.split(";")[0])
    .join("; ");
  // Callers without cookies share one session, which a sign-out does not end.
  const again = await fetch(`${url}/api/session`);
  expect(again.headers.getSetCookie()[0]?.split(";")[0]).toBe(cookie);
  const asVisitor = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${url}${path}`, { ...init, headers: { cookie, origin: url, "content-type": "application/json" } });
  const { data } = (await (await asVisitor("/api/requests?limit=1")).json()) as {
    data: { id: string }[];
  };
  const detail = (await (await asVisitor(`/api/requests/${data[0]?.id}`)).json()) as {
    content: { request: string } | null;
  };
  expect(detail.content?.request).toContain("messages");
  const decided = await asVisitor("/api/playground/decide", { method: "POST", body: JSON.stringify({ prompt: "Hi" }) });
  expect(decided.status).toBe(200);
  const refused = await asVisitor("/api/keys", { method: "POST", body: JSON.stringify({ name: "mine" }) });
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ error: { code: "read_only" } });
  const { locked } = (await (await asVisitor("/api/configuration")).json()) as { locked: unknown[] };
  expect(locked).toEqual([]);

  expect((await asVisitor("/api/session", { method: "DELETE" })).status).toBe(204);
  expect((await asVisitor("/api/requests?limit=1")).status).toBe(200);

  child.kill("SIGTERM");
  expect(await closed).toBe(0);
  expect(existsSync(file)).toBe(false);
});
