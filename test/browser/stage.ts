// A gateway with the dashboard, a real browser, and somebody signed in through the set-up link.

import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { ensureBuild } from "../../scripts/setup.mjs";
import { startBrowser } from "../support/gateway/browser.ts";
import { type GatewayOptions, HELLO, startGateway, type TestGateway } from "../support/gateway/gateway.ts";

export const EMAIL = "ops@example.com";
export const PASSWORD = "a long enough secret";
/** Costs nothing where things work, and a slow machine needs it. */
const PATIENCE_MS = 60_000;

export interface Stage {
  readonly gateway: () => TestGateway;
  /** A page of a new visitor, who has the session of the last user who signed in when `isSignedIn`. */
  visit(path: string, options?: VisitOptions): Promise<Visit>;
}

interface VisitOptions extends BrowserContextOptions {
  readonly isSignedIn?: boolean;
  /** What is to be in place before the page asks for anything. */
  readonly prepare?: (page: Page) => Promise<void>;
}

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Script errors, refused policies and requests to other hosts. */
  readonly troubles: readonly string[];
}

const started = await startBrowser();
if (started.browser === null)
  console.warn(`The browser tests are left out: no browser starts here (${started.reason})`);

export const hasBrowser = started.browser !== null;

/** Call at the top of a suite: everything is there before its first test and gone after its last. */
export function setStage(options: GatewayOptions = {}): Stage {
  const browser = started.browser as Browser;
  const contexts: BrowserContext[] = [];
  let gateway: TestGateway;
  let state: BrowserContextOptions["storageState"];
  beforeAll(async () => {
    await ensureBuild();
    gateway = await startGateway(options);
  });
  afterAll(async () => {
    for (const context of contexts) await context.close();
    await browser.close();
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
      page.setDefaultTimeout(PATIENCE_MS);
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
  await page.getByRole("button", { name: "Set up" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Two keys in one go: the second counts for about a second after the first, however slow the machine is. */
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

/** Requests of several kinds: cheap, dear, streamed, with tools, refused. */
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
