// docs/reference/sdk-methods.md against the installed clients: every method is in it, and what it calls "served" is a path
// of the gateway, while what it calls "not served" is none.

import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway/gateway.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/reference/sdk-methods.md"), "utf8");
const STATES = ["served", "local", "not served"] as const;

interface Row {
  readonly pattern: string;
  readonly state: string;
}

/** The rows of one client: its heading is the name of its package. */
function rowsOf(client: string): readonly Row[] {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(`${client}\n`)) ?? "";
  return [...section.matchAll(/^\| (`[^|]*) \| ([^|]*) \|/gm)].flatMap(([, names = "", state = ""]) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, pattern = ""]) => ({ pattern, state })),
  );
}

/** The row with the longest name that fits. */
function rowFor(method: string, rows: readonly Row[]): Row | null {
  const fitting = rows.filter(({ pattern }) =>
    pattern.endsWith(".*") ? method.startsWith(pattern.slice(0, -1)) : method === pattern,
  );
  return fitting.sort((one, other) => other.pattern.length - one.pattern.length)[0] ?? null;
}

type Call = (...args: readonly unknown[]) => unknown;

/** Methods of resources and of resources below them, in the order of the client. */
function methodsOf(resource: object, path: readonly string[] = [], seen = new Set<object>()): Map<string, Call> {
  const found = new Map<string, Call>();
  if (seen.has(resource)) return found;
  seen.add(resource);
  for (const name of membersOf(resource)) {
    const value = (resource as Record<string, unknown>)[name];
    const place = [...path, name];
    if (typeof value === "function" && path.length > 0) found.set(place.join("."), value.bind(resource) as Call);
    else if (isResource(value)) for (const [key, call] of methodsOf(value, place, seen)) found.set(key, call);
  }
  return found;
}

function membersOf(resource: object): readonly string[] {
  const names = new Set(Object.getOwnPropertyNames(resource));
  for (
    let proto = Object.getPrototypeOf(resource);
    proto !== null && proto !== Object.prototype;
    proto = Object.getPrototypeOf(proto)
  )
    for (const name of Object.getOwnPropertyNames(proto)) names.add(name);
  return [...names].filter((name) => !/^[_A-Z]|^constructor$|[cC]lient$|[oO]ptions|logger/.test(name));
}

function isResource(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !["Object", "Map", "Set", "Promise", "URL", "RegExp", "Date"].includes(value.constructor?.name ?? "Object");
}

/** Private methods of Google's client, which JavaScript does not hide. */
const PRIVATE =
  /Internal$|^models\.(initAfc|maybeMove|process)|^batches\.(createInlined|get(Gcs|Bigquery)|format)|^live\.(auth|webSocketFactory|isCallable)|^tunings\.tuneMldev/;

const NAMES = ["completion", "message", "batch", "file", "conversation", "response", "upload", "item"];
/** What methods look for in their parameters: ids in paths, and bodies. */
const PARAMS = {
  ...Object.fromEntries(NAMES.map((name) => [`${name}_id`, "id-2"])),
  ...{ model: "m", messages: [{ role: "user", content: "hi" }], input: "hi", items: [], name: "id-1" },
  ...{
    contents: "hi",
    requests: [],
    config: { ttl: "60s" },
    prompt: "hi",
    voice: "alloy",
    file: new File(["x"], "x", { type: "text/plain" }),
  },
  ...{ image: new File(["x"], "x.png"), purpose: "batch", max_tokens: 1, metadata: {} },
};

let gateway: TestGateway;
let served: readonly RegExp[];
let recorder: Server;
let address: string;
const recorded: string[] = [];
let recordedVersion: string | undefined;
let heard = (): void => undefined;
beforeAll(async () => {
  gateway = await startGateway();
  const { paths } = (await (await gateway.get("/openapi.json")).json()) as { paths: Record<string, object> };
  served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => {
      const pattern = path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{[^}]+\}/g, "[^/]+");
      return new RegExp(`^${method.toUpperCase()} ${pattern}$`);
    }),
  );
  recorder = createServer((request, response) => {
    recorded.push(`${request.method} ${(request.url ?? "").replace(/\?.*/, "")}`);
    recordedVersion = [request.headers["anthropic-version"]].flat()[0];
    heard();
    request.resume();
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"no"}}');
  });
  await new Promise<void>((resolve) => recorder.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`;
});
beforeEach(hush);
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await gateway.stop();
  recorder.closeAllConnections();
  await new Promise((resolve) => recorder.close(resolve));
});

/** The clients warn of everything that is new or old. */
function hush(): void {
  for (const level of ["warn", "error"] as const) vi.spyOn(console, level).mockReturnValue();
}

/** The request that a method sends, tried with an id and with parameters first; null where it sends none so. */
async function requestOf(call: Call): Promise<string | null> {
  const named = { ...PARAMS, name: "batches/id-1", downloadPath: "unused" };
  for (const args of [["id-1", PARAMS], [PARAMS], ["id-1", "id-2", PARAMS], [named]]) {
    recorded.length = 0;
    const asked = new Promise<void>((resolve) => {
      heard = resolve;
    });
    // Some would go on for ever: they retry, poll or connect.
    await Promise.race([asked, finished(call, args), aSecond()]);
    const [first] = recorded;
    if (first !== undefined && !first.includes("undefined") && !first.includes("object")) return first;
  }
  return null;
}

/** The recorder refuses everything. A list asks only when it is read. */
async function finished(call: Call, args: readonly unknown[]): Promise<void> {
  try {
    const answer: unknown = await call(...args);
    if (isResource(answer) && Symbol.asyncIterator in answer)
      for await (const _ of answer as AsyncIterable<unknown>) return;
  } catch {
    return;
  }
}

function aSecond(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1_000).unref());
}

/** Some paths of one vendor are those of another, whose clients are told so. */
async function isOthers(request: string): Promise<boolean> {
  const [method = "", path = ""] = request.split(" ");
  const version = recordedVersion === undefined ? {} : { "anthropic-version": recordedVersion };
  const headers = { authorization: `Bearer ${gateway.key}`, ...version };
  const answer = await fetch(gateway.url + path, { method, headers });
  return answer.status === 404 && /not kept here|not served/.test(await answer.text());
}

const CLIENTS: Readonly<Record<string, () => object>> = {
  openai: () => new OpenAI({ apiKey: "k", adminAPIKey: "k", baseURL: `${address}/v1`, maxRetries: 0 }),
  "@anthropic-ai/sdk": () => new Anthropic({ apiKey: "k", baseURL: address, maxRetries: 0 }),
  "@google/genai": () => new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: address } }),
};

describe.each(Object.keys(CLIENTS))("methods of %s", (name) => {
  const rows = rowsOf(name);
  let methods: ReadonlyMap<string, Call>;
  beforeEach(() => {
    const found = methodsOf((CLIENTS[name] as () => object)());
    methods = new Map([...found].filter(([method]) => !PRIVATE.test(method)));
  });

  it("are all on the page, and nothing else is", () => {
    expect(methods.size).toBeGreaterThan(50);
    expect([...methods.keys()].filter((method) => rowFor(method, rows) === null)).toEqual([]);
    const used = new Set([...methods.keys()].map((method) => rowFor(method, rows)));
    expect(rows.filter((row) => !used.has(row)).map(({ pattern }) => pattern)).toEqual([]);
    expect(rows.filter(({ state }) => !(STATES as readonly string[]).includes(state))).toEqual([]);
  });

  it("are served where the page says so, and nowhere else", async () => {
    const wrong: string[] = [];
    expect(methods.size).toBeGreaterThan(50);
    for (const [method, call] of methods) {
      const state = rowFor(method, rows)?.state;
      if (state === "local") continue;
      const request = await requestOf(call);
      const isServed =
        request !== null && served.some((pattern) => pattern.test(request)) && !(await isOthers(request));
      if (request === null ? state === "served" : isServed !== (state === "served"))
        wrong.push(`${method} is ${state}, and sends ${request}`);
    }
    expect(wrong).toEqual([]);
  });
});
