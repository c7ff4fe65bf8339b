// The dashboard under test: a gateway that serves it, a real browser, and an operator signed in through the set-up link.

import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { ensureBuild } from "../../scripts/setup.mjs";
import { startBrowser } from "../support/gateway/browser.ts";
import { type GatewayOptions, HELLO, startGateway, type TestGateway } from "../support/gateway/gateway.ts";

export const EMAIL = "ops@example.com";
export const PASSWORD = "a long enough secret";
/** The longest wait for anything on a page. It costs nothing where things work, and a slow machine needs it. */
const WAIT_MAX_MS = 60_000;

interface TestDashboard {
  readonly gateway: () => TestGateway;
  /** Opens a path in a browser context of its own, signed in as the operator unless said otherwise. */
  visit(path: string, options?: VisitOptions): Promise<Visit>;
}

interface VisitOptions extends BrowserContextOptions {
  readonly isSignedIn?: boolean;
  /** Runs before the page loads anything. */
  readonly prepare?: (page: Page) => Promise<void>;
}

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Script errors, violations of the content policy, and requests to other hosts. */
  readonly troubles: readonly string[];
}

const started = await startBrowser();
if (started.browser === null) console.warn(`The browser tests are skipped: no browser starts here (${started.reason})`);

export const hasBrowser = started.browser !== null;

/** Call at the top of a suite: it starts everything before the first test and stops it after the last. */
export function startDashboard(options: GatewayOptions = {}): TestDashboard {
  const browser = started.browser as Browser;
  const contexts: BrowserContext[] = [];
  let gateway: TestGateway;
  let state: BrowserContextOptions["storageState"];
  beforeAll(async () => {
    await ensureBuild();
    gateway = await startGateway(options);
  });
  afterAll(async () => {
    // The browser stays for the next file of this process, and ends with it.
    for (const context of contexts) await context.close();
    await gateway.stop();
  });
  return {
    gateway: () => gateway,
    async visit(path, { isSignedIn = true, prepare, ...wanted } = {}) {
      if (isSignedIn && state === undefined) state = await signInFirst(browser, gateway);
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        ...(isSignedIn && state !== undefined ? { storageState: state } : {}),
        ...wanted,
      });
      contexts.push(context);
      const page = await context.newPage();
      page.setDefaultTimeout(WAIT_MAX_MS);
      const troubles = watch(page, gateway.url);
      await prepare?.(page);
      await page.goto(gateway.url + path);
      return { page, context, troubles };
    },
  };
}

async function signInFirst(browser: Browser, gateway: TestGateway): Promise<BrowserContextOptions["storageState"]> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(gateway.setupLink ?? "");
  await page.getByLabel("E-mail").fill(EMAIL);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Presses keys without waiting between them: a chord runs out after about a second, however slow the machine is. */
export async function pressInOneGo(page: Page, ...keys: readonly string[]): Promise<void> {
  await Promise.all(keys.map((key) => page.keyboard.press(key)));
}

function watch(page: Page, home: string): readonly string[] {
  const troubles: string[] = [];
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) troubles.push(message.text());
  });
  page.on("request", (request) => {
    const isHere = request.url().startsWith(home) || /^(?:data|blob):/.test(request.url());
    if (!isHere) troubles.push(`asked ${request.url()}`);
  });
  return troubles;
}

/** Requests of several kinds: cheap, expensive, streamed and rejected. */
export async function sendTraffic({ post }: TestGateway): Promise<void> {
  const ask = async (body: object): Promise<void> => {
    const response = await post("/v1/chat/completions", { ...HELLO, ...body });
    await response.text();
  };
  const say = (content: string): object => ({ messages: [{ role: "user", content }] });
  await ask({});
  await ask(say("Hi!"));
  await ask({ ...say("<img src=x onerror=alert(1)> what is this?"), stream: true });
  await ask({ ...say("Prove that the square root of two is irrational."), service_tier_floor: "COMPLEX" });
  for (const model of ["no-such-model", "nor-this-one"])
    await ask({ ...say("Hello"), service_profile: "direct", model });
}
