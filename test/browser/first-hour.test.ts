// The first hour of a newcomer with a real provider: the program is started in an empty folder, and everything after
// that happens in the terminal and in the browser. Elements are found by their place, not by their words.

import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ensureBuild } from "../../scripts/setup.mjs";
import { startBrowser } from "../support/gateway/browser.ts";
import { type GatewayProcess, whenReady } from "../support/gateway/gateway-process.ts";
import { closedPort } from "../support/network/unreachable.ts";
import {
  answers,
  type Behaviour,
  type FakeProvider,
  fails,
  sends,
  startFakeProvider,
} from "../support/providers/fake-provider.ts";
import { settled, show, TEST_MAX_MS, WAIT_MAX_MS, WINDOW } from "./dashboard.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/switchyard.mjs");
const PROVIDER_KEY = "sk-the-real-one";
const runFile = promisify(execFile);

const started = await startBrowser();
const missing = started.browser === null ? `no browser starts here (${started.reason})` : whyNoCurl();
if (missing !== null) console.warn(`The first hour is not walked: ${missing}`);

describe.skipIf(missing !== null)("the first hour", () => {
  let provider: FakeProvider;
  vi.setConfig({ testTimeout: TEST_MAX_MS, hookTimeout: TEST_MAX_MS });
  beforeAll(async () => {
    await ensureBuild();
    provider = await startFakeProvider();
  });
  beforeEach(() => {
    provider.reset();
    provider.on("*", asVendor);
  });
  afterAll(async () => {
    await provider.close();
  });

  test("with a real provider: from the banner to a key, an answer, a profile, 402 and a top-up", async () => {
    const home = await startFresh({ baseUrl: provider.url });
    expect(home.gateway.banner).toMatch(/^ {2}Providers +openai$/m);
    expect(home.gateway.banner).toMatch(/^ {2}Credits +\$5\.00 starter credit/m);
    const page = await setUp(home.gateway);
    await expectReadyToStart(page);
    const key = await createKey(page);
    await sendFirstRequest(page, key);
    expect(provider.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${PROVIDER_KEY}`]);
    expect(await runPasted(curlOf(home.gateway))).toMatchObject({
      status: 200,
      text: expect.stringContaining("Paris"),
    });
    await findInLog(page, home.gateway);
    await createProfile(page);
    await spendEverything(page);
    await expectOutOfCredits(page, home.gateway, key);
    await topUp(page);
    expect((await ask(home.gateway, key)).status).toBe(200);
  });

  test("with a wrong provider key: the client, the dashboard and the doctor all say so", async () => {
    const home = await startFresh({ baseUrl: provider.url, providerKey: "sk-mistyped" });
    const pasted = await runPasted(curlOf(home.gateway));
    expect(pasted.status).toBe(503);
    const { message } = errorIn(pasted.text);
    expect(message).toMatch(/The last one returned 401\. A retry won't help/);
    const page = await setUp(home.gateway);
    await page.getByRole("alert").filter({ hasText: "openai" }).waitFor();
    await page.locator(".checklist .notice.bad", { hasText: "openai" }).waitFor();
    await openRequest(page, 503);
    const advice = page.locator(".sheet .happened", { hasText: /openai returned 401.*refused the gateway's API key/ });
    await advice.filter({ hasText: / doctor'/ }).waitFor();
    const doctor = await runCommand(home, ["doctor"]);
    expect(doctor.code).toBe(1);
    expect(doctor.out).toMatch(/✗ openai\b.*\(401\)/);
  });

  test("with no credit: the banner says so, and the command in the message helps", async () => {
    const home = await startFresh({ baseUrl: provider.url, yaml: "billing: { starterCredits: 0 }\n" });
    expect(home.gateway.banner).toMatch(/^ {2}Credits +\$0\.00 .*402/m);
    const refused = await runPasted(curlOf(home.gateway));
    expect(refused.status).toBe(402);
    expect(errorIn(refused.text)).toMatchObject({ type: "billing_error", code: "insufficient_credits" });
    expect(provider.requests).toEqual([]);
    const advised = commandIn(home.gateway.banner);
    expect(await runCommand(home, advised)).toMatchObject({ code: 0 });
    expect(await runPasted(curlOf(home.gateway))).toMatchObject({ status: 200 });
  });

  test("with the provider down: the 503 says so, and the dashboard names it", async () => {
    const home = await startFresh({ baseUrl: (await closedPort()).url });
    const pasted = await runPasted(curlOf(home.gateway));
    expect(pasted.status).toBe(503);
    expect(errorIn(pasted.text).message).toContain("The last one could not be reached.");
    const page = await setUp(home.gateway);
    await openRequest(page, 503);
    await page.locator(".sheet .happened", { hasText: "openai could not be reached" }).waitFor();
  });

  test("metered: spending is recorded and nothing is refused", async () => {
    const yaml = "billing: { mode: metered, starterCredits: 0 }\n";
    const home = await startFresh({ baseUrl: provider.url, yaml });
    expect(home.gateway.banner).toMatch(/^ {2}Credits +metered/m);
    expect(await runPasted(curlOf(home.gateway))).toMatchObject({ status: 200 });
    const page = await setUp(home.gateway);
    const credits = await callApi(page, "GET", "/api/credits");
    expect(credits).toMatchObject({ billingMode: "metered" });
    await settled(page);
    expect(await page.getByRole("alert").count()).toBe(0);
    const { data } = (await callApi(page, "GET", "/api/ledger?kind=charge")) as { data: { amountUsd: string }[] };
    expect(data).toHaveLength(1);
    expect(Number(data[0]?.amountUsd)).not.toBe(0);
  });
});

interface FreshOptions {
  readonly baseUrl: string;
  readonly providerKey?: string;
  /** Further lines of switchyard.yaml. */
  readonly yaml?: string;
}

/** A folder with nothing but switchyard.yaml when the program was started in it. */
interface Home {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly gateway: GatewayProcess;
}

async function startFresh({ baseUrl, providerKey = PROVIDER_KEY, yaml = "" }: FreshOptions): Promise<Home> {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-first-hour-"));
  const provider = `providers: { openai: { baseUrl: "${baseUrl}", apiKey: "\${OPENAI_API_KEY}" } }\n`;
  writeFileSync(join(folder, "switchyard.yaml"), provider + yaml);
  // Nothing of this machine's own settings.
  const env = { PATH: process.env.PATH ?? "", HOME: folder, PORT: "0", OPENAI_API_KEY: providerKey };
  const child = spawn(process.execPath, [PROGRAM, "serve"], { cwd: folder, env });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    // Ctrl-C, as at a terminal: it waits for no load balancer.
    child.kill("SIGINT");
    await exited;
    rmSync(folder, { recursive: true, force: true });
  });
  return { folder, env, gateway: await whenReady(child) };
}

/** A vendor with one customer: the list of models is behind the key as well. */
const asVendor: Behaviour = (exchange) => {
  const { headers, path } = exchange.request;
  if (headers.authorization !== `Bearer ${PROVIDER_KEY}`) return fails(401, { code: "invalid_api_key" })(exchange);
  if (path.endsWith("/models")) return sends(200, { object: "list", data: [{ id: "gpt-4o-mini" }] })(exchange);
  return answers("Paris is the capital of France.")(exchange);
};

/** The command of the first screen, as somebody copies it. */
function curlOf({ banner }: GatewayProcess): string {
  return banner.slice(banner.indexOf("curl "));
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function runPasted(command: string): Promise<Answer> {
  const { stdout } = await runFile("sh", ["-c", `${command.trim()} -w '\n%{http_code}'`]);
  const end = stdout.lastIndexOf("\n");
  return { status: Number(stdout.slice(end + 1)), text: stdout.slice(0, end) };
}

function errorIn(text: string): { readonly message: string; readonly type: string; readonly code: string } {
  return JSON.parse(text).error;
}

/** The command that a text advises, without the name of the program. */
function commandIn(text: string): readonly string[] {
  return /credits add \d+/.exec(text)?.[0].split(" ") ?? [];
}

async function runCommand({ folder, env }: Home, words: readonly string[]): Promise<{ code: number; out: string }> {
  const options = { cwd: folder, env };
  return runFile(process.execPath, [PROGRAM, ...words], options).then(
    ({ stdout }) => ({ code: 0, out: stdout }),
    ({ code, stdout }) => ({ code, out: stdout }),
  );
}

/** Opens the one-time link, chooses a password, and waits for the first page. */
async function setUp({ setupLink }: GatewayProcess): Promise<Page> {
  const context = await (started.browser as Browser).newContext(WINDOW);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MAX_MS);
  await page.goto(setupLink ?? "");
  await page.locator("input[type=email]").fill("ops@example.com");
  await page.locator("input[type=password]").fill("a long enough secret");
  await page.locator("button[type=submit]").click();
  await page.locator("header.top").waitFor();
  return page;
}

/** The checklist: a provider and credits are there, a request is not. */
async function expectReadyToStart(page: Page): Promise<void> {
  const steps = page.locator(".checklist > ol > li");
  await page.locator(".checklist > ol > li.done:first-child").waitFor();
  await page.locator(".checklist li.done", { hasText: "$5.00" }).waitFor();
  await settled(page);
  expect(await steps.first().innerText()).not.toMatch(/sandbox|simulated/i);
  expect(await steps.last().getAttribute("class")).not.toBe("done");
}

/** The key as the dialog of the checklist shows it, once. */
async function createKey(page: Page): Promise<string> {
  const dialog = page.getByRole("dialog");
  await page
    .locator(".checklist")
    .getByRole("button", { name: /create.*key/i })
    .click();
  await dialog.getByRole("textbox").first().fill("my app");
  await dialog.locator("button[type=submit]").click();
  const key = await dialog.locator("textarea").first().inputValue();
  // The dialog closes without a question when the key was kept.
  await dialog.locator("a[download]").click();
  await dialog.locator("footer button").last().click();
  await dialog.waitFor({ state: "detached" });
  return key;
}

/** Pastes the program of the checklist, and follows it to the reasons of its request. */
async function sendFirstRequest(page: Page, key: string): Promise<void> {
  const program = page.locator(".checklist textarea");
  await expect.poll(() => program.inputValue()).toContain(key);
  const command = await program.inputValue();
  const { status, text } = await runPasted(command);
  expect(status, text).toBe(200);
  expect(JSON.parse(text)).toMatchObject({
    choices: [{ message: { content: "Paris is the capital of France." } }],
    service: { tier: expect.any(String), model: expect.any(String) },
  });
  const received = page.locator(".checklist .notice.good");
  await received.getByRole("link").click();
  await page.locator(".sheet .decision .ladder .final").waitFor();
}

/** The request of the banner's key is the newest row; its sheet shows the decision and the charge. */
async function findInLog(page: Page, { url }: GatewayProcess): Promise<void> {
  // Loaded again: a list that is open only counts what came after it.
  await page.goto(`${url}/requests`);
  const rows = page.locator(".requests tbody tr");
  await expect.poll(() => rows.count()).toBe(2);
  await settled(page);
  const newest = rows.first();
  await expect.poll(() => newest.locator("[data-cell=status]").innerText()).toContain("200");
  await expect.poll(() => newest.locator("[data-cell=cost]").innerText()).toMatch(/^\$0\.0*[1-9]/);
  const model = (await newest.locator("[data-cell=model]").innerText()).trim();
  await newest.click();
  await page.locator(".sheet .decision .ladder .final").waitFor();
  await expect.poll(() => page.locator(".sheet .decision b.model").innerText()).toBe(model);
  await settled(page);
  expect(await page.locator(".sheet .failure").count()).toBe(0);
  await page.locator('.sheet a[href*="entry="]').first().waitFor();
}

/** Raises the lowest tier; the replay says what that would have done to the two requests. */
async function createProfile(page: Page): Promise<void> {
  await show(page, "/profiles/new");
  await page.locator("form.editor input").first().fill("careful");
  await page.locator("form.editor input[type=range]").first().fill("3");
  await expect.poll(() => page.locator("ul.replay li", { hasText: "STANDARD" }).count()).toBe(2);
  await page.locator("form.editor button[type=submit]").click();
  await page.waitForURL(/\/profiles\/profile_/);
}

async function spendEverything(page: Page): Promise<void> {
  const { availableUsd } = (await callApi(page, "GET", "/api/credits")) as { availableUsd: string };
  await callApi(page, "POST", "/api/credits/adjustments", { amountUsd: `-${availableUsd}` });
}

/** The 402 says where to add credits; so does every page, and the request says why it failed. */
async function expectOutOfCredits(page: Page, gateway: GatewayProcess, key: string): Promise<void> {
  const refused = await ask(gateway, key);
  expect(refused.status).toBe(402);
  expect(refused.headers.get("x-should-retry")).toBe("false");
  const { message, code } = errorIn(await refused.text());
  expect(code).toBe("insufficient_credits");
  expect(message).not.toContain("credits add");
  await openRequest(page, 402);
  const advice = page.locator(".sheet .happened", { hasText: "dashboard under Credits" });
  expect(commandIn(await advice.innerText())).toEqual(["credits", "add", "10"]);
}

/** By the link of the banner that is on every page. */
async function topUp(page: Page): Promise<void> {
  await show(page, "/");
  await page.getByRole("alert").getByRole("link").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").first().fill("3");
  await dialog.locator("button[type=submit]").click();
  await dialog.waitFor({ state: "detached" });
  await page.locator(".top .balance", { hasText: "$3.00" }).waitFor();
  await page.getByRole("alert").waitFor({ state: "detached" });
}

async function openRequest(page: Page, status: number): Promise<void> {
  await show(page, `/requests?status=${status}`);
  await settled(page);
  await page.locator(".requests tbody tr").first().click();
}

function ask({ url }: GatewayProcess, key: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "auto", messages: [{ role: "user", content: "What is the capital of France?" }] }),
  });
}

/** A call as the dashboard makes it, with the session of the page. */
function callApi(page: Page, method: string, path: string, body?: object): Promise<unknown> {
  return page.evaluate(
    async ({ method, path, body }) => {
      const response = await fetch(path, {
        method,
        headers: { "x-switchyard-dashboard": "1", "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(await response.text());
      return response.json();
    },
    { method, path, body },
  );
}

function whyNoCurl(): string | null {
  try {
    execFileSync("curl", ["--version"]);
    return null;
  } catch {
    return "curl is not installed";
  }
}
