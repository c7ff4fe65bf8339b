// The dashboard under test: a gateway that serves it, a real browser, and an operator who is signed in.

import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, vi } from "vitest";
import { ensureBuild } from "../../scripts/setup.mjs";
import { startBrowser } from "../support/gateway/browser.ts";
import { type GatewayOptions, HELLO, startGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { visit as asPerson, setupTokenOf } from "../support/gateway/signed-in.ts";

export const EMAIL = "ops@example.com";
export const PASSWORD = "a long enough secret";
/** The longest wait for anything on a page. It costs nothing where things work, and a slow machine needs it. */
export const WAIT_MAX_MS = 120_000;
/** The same for a whole test, whose waits follow each other. */
export const TEST_MAX_MS = 900_000;
/** Nothing fades or moves, so that whatever is seen is seen as it stays. */
export const WINDOW = { viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" } as const;

interface TestDashboard {
  readonly gateway: () => TestGateway;
  /**
   * Opens a path, signed in as the operator unless said otherwise. What a test opens is gone after it; what is opened
   * before all tests stays until after them.
   */
  visit(path: string, options?: VisitOptions): Promise<Visit>;
}

interface VisitOptions extends BrowserContextOptions {
  readonly isSignedIn?: boolean;
  /** The checklist of the overview was dismissed, unless a newcomer is meant. */
  readonly isNewcomer?: boolean;
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
  const tabs = keepTabs(browser);
  let gateway: TestGateway;
  let state: SignedIn | undefined;
  vi.setConfig({ testTimeout: TEST_MAX_MS, hookTimeout: TEST_MAX_MS });
  beforeAll(async () => {
    await ensureBuild();
    gateway = await startGateway(options);
  });
  beforeEach(tabs.beginTest);
  afterEach(tabs.endTest);
  afterAll(async () => {
    // The browser stays for the next file of this process, and ends with it.
    await tabs.closeAll();
    await gateway.stop();
  });
  return {
    gateway: () => gateway,
    async visit(path, { isSignedIn = true, isNewcomer = false, prepare, ...wanted } = {}) {
      if (isSignedIn) state ??= await signInFirst(gateway);
      const cookies = isSignedIn && state !== undefined ? state.cookies : [];
      const session = { storageState: { cookies, origins: isNewcomer ? [] : [dismissed(gateway)] } };
      const tab = await tabs.open({ ...WINDOW, ...session, ...wanted });
      const troubles = watch(tab.page, gateway.url);
      await prepare?.(tab.page);
      await tab.page.goto(gateway.url + path);
      return { ...tab, troubles };
    },
  };
}

interface Tabs {
  beginTest(): void;
  endTest(): Promise<void>;
  open(options: BrowserContextOptions): Promise<Pick<Visit, "page" | "context">>;
  closeAll(): Promise<void>;
}

/** Each tab has a context of its own. One that stayed open would go on reading, beside the tests that follow. */
function keepTabs(browser: Browser): Tabs {
  const contexts: BrowserContext[] = [];
  let openedBefore = 0;
  const closeFrom = async (first: number): Promise<void> => {
    await Promise.all(contexts.splice(first).map((context) => context.close()));
  };
  return {
    beginTest() {
      openedBefore = contexts.length;
    },
    endTest: () => closeFrom(openedBefore),
    async open(options) {
      const context = await browser.newContext(options);
      contexts.push(context);
      const page = await context.newPage();
      page.setDefaultTimeout(WAIT_MAX_MS);
      return { context, page };
    },
    closeAll: () => closeFrom(0),
  };
}

type SignedIn = Exclude<BrowserContextOptions["storageState"], string | undefined>;

function dismissed({ url }: TestGateway): SignedIn["origins"][number] {
  return { origin: url, localStorage: [{ name: "switchyard.checklist", value: "yes" }] };
}

/** As the form of the set-up link does it, which `first-run.test.ts` fills in. */
async function signInFirst(gateway: TestGateway): Promise<SignedIn> {
  const operator = asPerson(gateway);
  const body = { token: setupTokenOf(gateway), email: EMAIL, password: PASSWORD };
  const made = await operator.call("POST", "/api/setup", body);
  if (made.status !== 201) throw new Error(`set up with ${made.status}: ${await made.text()}`);
  const cookie = { name: "switchyard_session", value: operator.cookie ?? "", path: "/", expires: -1 };
  const flags = { domain: new URL(gateway.url).hostname, httpOnly: true, secure: false, sameSite: "Strict" as const };
  return { cookies: [{ ...cookie, ...flags }], origins: [] };
}

/** Goes there without loading the page again, as links do, and returns when the page has begun to change. */
export async function show(page: Page, path: string): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    history.pushState(null, "", ${JSON.stringify(path)});
    dispatchEvent(new PopStateEvent("popstate"));
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)));
  })`);
}

/** What stands in for data, or holds what is out of date. */
export const BUSY = ".skeleton, .stale, [aria-busy=true]";

/** Waits until the page is there and nothing on it is loading any more. */
export async function settled(page: Page): Promise<void> {
  await page.locator("h1, .empty h3").first().waitFor();
  await page.locator(BUSY).first().waitFor({ state: "detached" });
}

/** How far the page is wider than its window, in pixels. */
export function beyondWindow(page: Page): Promise<number> {
  return page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
}

/** Presses keys as one chord, which runs out after about a second: the clock of the page stands still meanwhile. */
export async function pressInOneGo(page: Page, ...keys: readonly string[]): Promise<void> {
  await page.evaluate("window.now = Date.now; Date.now = ((atMs) => () => atMs)(Date.now())");
  for (const key of keys) await page.keyboard.press(key);
  await page.evaluate("Date.now = window.now");
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
