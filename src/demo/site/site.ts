// The demo as a site: one port for strangers. Everybody reads the same gateway, and a visitor who changes something gets
// one alone. Requests are handed over inside the process, so nothing listens for a visitor's store and nothing calls it.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, BlockList, isIPv6 } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Settings } from "../../config/settings.ts";
import type { Log } from "../../core/log.ts";
import * as TEXT from "./text.ts";
import { createVisitors, type StoreGateway, type VisitorTerms } from "./visitors.ts";
import { createCallWindows } from "./windows.ts";

export interface SiteContext extends VisitorTerms {
  readonly server: Settings["server"];
  /** Fills an empty folder with the demo of this moment, and returns the login that all visitors share. */
  fill(folder: string): Promise<string>;
  /** Reads the path of a request as the gateways do. */
  pathOf(request: IncomingMessage): string;
  /** Starts a gateway on a folder. */
  start(folder: string, login: string): Promise<StoreGateway>;
  /** Interval at which the demo is made again, because its data ends at the time it was made. */
  readonly renewMs: number;
  readonly log: Log;
  readonly now?: () => number;
}

/** Limits of one address. A page of the dashboard takes about sixty requests when it is opened first. */
const REQUESTS = { max: 900, windowMs: 60_000 } as const;
const STORES = { max: 6, windowMs: 600_000 } as const;
const OPEN_REQUESTS_MAX = 32;
const CONNECTIONS_MAX = 1_000;
const HEADERS_BYTES_MAX = 16 * 1024;
const COOKIE = "switchyard_demo";
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
/** Shows the whole process, and belongs to its operator. */
const CLOSED_PATH = /^\/+metrics(?:[/?]|$)/;
const RESTART_PATH = "/demo/restart";

interface Edition {
  readonly folder: string;
  readonly login: string;
  readonly app: StoreGateway;
}

export interface DemoSite {
  readonly url: string;
  readonly publicUrl: string;
  stop(): Promise<void>;
}

export async function openSite(context: SiteContext): Promise<DemoSite> {
  const { server: settings, log, now = Date.now } = context;
  let edition = await makeEdition(context);
  const visitors = createVisitors({
    ...context,
    now,
    template: () => join(edition.folder, "template"),
    start: (folder) => context.start(folder, edition.login),
  });
  const front = createFront({ settings, pathOf: context.pathOf, visitors, shared: () => edition.app, now });
  const server = createServer({ maxHeaderSize: HEADERS_BYTES_MAX, requestTimeout: settings.requestTimeoutMs }, front);
  server.maxConnections = CONNECTIONS_MAX;
  server.keepAliveTimeout = settings.keepAliveMs;
  // Nothing in the demo needs a WebSocket, and one would live on without its store.
  server.on("upgrade", (_, socket) => socket.destroy());
  const renewal = setInterval(() => void renew(), context.renewMs).unref();
  async function renew(): Promise<void> {
    try {
      const before = edition;
      edition = await makeEdition(context);
      await endEdition(before);
    } catch (err) {
      log.error({ event: "demo.store_failed", err }, "the demo could not be made again; the last one goes on");
    }
  }
  server.listen(settings.port, settings.host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `http://${isIPv6(settings.host) ? `[${settings.host}]` : settings.host}:${port}`;
  return {
    ...{ url, publicUrl: settings.publicUrl ?? url },
    async stop() {
      clearInterval(renewal);
      server.close();
      server.closeAllConnections();
      await visitors.close();
      await endEdition(edition);
    },
  };
}

/** A filled folder, and the gateway for everybody on a copy of it: a template that is open cannot be copied. */
async function makeEdition({ fill, start }: SiteContext): Promise<Edition> {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-site-"));
  try {
    const [template, shared] = [join(folder, "template"), join(folder, "shared")];
    const login = await fill(template);
    cpSync(template, shared, { recursive: true });
    return { folder, login, app: await start(shared, login) };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function endEdition({ app, folder }: Edition): Promise<void> {
  const stopped = app.stop();
  app.hurry();
  await stopped;
  rmSync(folder, { recursive: true, force: true });
}

interface FrontContext extends Pick<SiteContext, "pathOf"> {
  readonly settings: Settings["server"];
  readonly visitors: ReturnType<typeof createVisitors>;
  readonly shared: () => Pick<StoreGateway, "answer">;
  readonly now: () => number;
}

type Front = (request: IncomingMessage, response: ServerResponse) => void;

/** Decides who answers a request: nobody, everybody's gateway, or the visitor's own. */
function createFront({ settings, pathOf, visitors, shared, now }: FrontContext): Front {
  const requests = createCallWindows({ ...REQUESTS, now });
  const openings = createCallWindows({ ...STORES, now });
  const openRequests = new Map<string, number>();
  const cookies = createCookies(settings.publicUrl?.startsWith("https:") === true);
  const addressOf = createAddresses(settings.trustedProxies);
  return (request, response) => {
    const address = addressOf(request);
    const waitSeconds = requests.take(address);
    if (waitSeconds > 0) return refuse(response, 429, TEXT.tooMany(waitSeconds), waitSeconds);
    const open = openRequests.get(address) ?? 0;
    if (open >= OPEN_REQUESTS_MAX) return refuse(response, 429, TEXT.tooManyAtOnce, 1);
    openRequests.set(address, open + 1);
    response.once("close", () => {
      const left = (openRequests.get(address) ?? 1) - 1;
      if (left <= 0) openRequests.delete(address);
      else openRequests.set(address, left);
    });
    const { method = "", url = "" } = request;
    // To the gateways, `/%6detrics` is the same.
    if (CLOSED_PATH.test(pathOf(request))) return refuse(response, 404, TEXT.notHere);
    const visitor = cookies.read(request);
    if (url.startsWith(RESTART_PATH)) return restart(visitor, response);
    const own = visitor === null ? null : visitors.find(visitor);
    if (visitor !== null && own !== null) {
      visitors.hold(visitor, response);
      return handOver(own, request, response);
    }
    if (SAFE.has(method)) {
      if (visitor === null && request.headers.accept?.includes("text/html") === true) cookies.give(response);
      return shared().answer(request, response);
    }
    if (visitor === null) return refuse(response, 403, TEXT.noVisitor);
    const waitForStoreSeconds = openings.take(address);
    if (waitForStoreSeconds > 0) return refuse(response, 429, TEXT.tooManyStores, waitForStoreSeconds);
    const made = visitors.open(visitor);
    if (made === null) return refuse(response, 503, TEXT.full(), FULL_RETRY_SECONDS);
    visitors.hold(visitor, response);
    handOver(made, request, response);
  };

  function restart(visitor: string | null, response: ServerResponse): void {
    const ended = visitor === null ? Promise.resolve() : visitors.restart(visitor);
    void ended.then(() => response.writeHead(303, { location: "/", "cache-control": "no-store" }).end());
  }
}

const FULL_RETRY_SECONDS = 30;

function handOver(app: Promise<StoreGateway>, request: IncomingMessage, response: ServerResponse): void {
  app.then(
    ({ answer }) => answer(request, response),
    () => refuse(response, 503, TEXT.full(), FULL_RETRY_SECONDS),
  );
}

/** Refusals of the front itself, in the shape of the dashboard's API. */
function refuse(response: ServerResponse, status: number, message: string, retryAfterSeconds?: number): void {
  const type = status === 429 ? "rate_limit_error" : status === 503 ? "overloaded_error" : "invalid_request_error";
  const body = JSON.stringify({ error: { message, type, code: "demo" } });
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
  });
  // The body of the request is not read, so the connection cannot be used again.
  response.end(body, () => response.req.destroy());
}

const ID_BYTES = 16;

/** Visitors are known by a signed cookie: nobody can take a store by guessing, or make many names at once. */
function createCookies(isSecure: boolean) {
  const secret = randomBytes(32);
  const signed = (id: string): string => `${id}.${createHmac("sha256", secret).update(id).digest("base64url")}`;
  return {
    read({ headers }: IncomingMessage): string | null {
      const [, value = ""] = new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w.-]+)`).exec(headers.cookie ?? "") ?? [];
      const id = value.slice(0, Math.max(0, value.indexOf(".")));
      const [given, right] = [Buffer.from(value), Buffer.from(signed(id))];
      return id !== "" && given.length === right.length && timingSafeEqual(given, right) ? id : null;
    },
    give(response: ServerResponse): void {
      const value = signed(randomBytes(ID_BYTES).toString("base64url"));
      response.setHeader(
        "set-cookie",
        `${COOKIE}=${value}; Path=/; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`,
      );
    },
  };
}

/** The address of the client; a trusted proxy says it in the last entry that it added. */
function createAddresses(trusted: readonly string[]): (request: IncomingMessage) => string {
  const proxies = new BlockList();
  for (const network of trusted) {
    const [address = "", bits] = network.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  }
  const isProxy = (address: string): boolean => proxies.check(address, isIPv6(address) ? "ipv6" : "ipv4");
  return ({ socket, headers }) => {
    const named = String(headers["x-forwarded-for"] ?? "").split(",");
    let address = socket.remoteAddress ?? "";
    while (isProxy(address)) {
      const before = named.pop()?.trim();
      if (before === undefined || before === "") break;
      address = before;
    }
    return address;
  };
}
