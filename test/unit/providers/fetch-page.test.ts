// Pages that are fetched for a model, from servers that lie, hang, pack bombs or lead into private networks.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { FetchBounds, SearchOutcome } from "../../../src/core/search/web-search.ts";
import { guardedLookup } from "../../../src/providers/lookup.ts";
import { createPageFetcher } from "../../../src/providers/search/fetch-page.ts";
import { mayRobotsRead } from "../../../src/providers/search/robots.ts";

type Handler = (incoming: IncomingMessage, response: ServerResponse) => void;
let handler: Handler;
const asked: string[] = [];
let port = 0;
const server = createServer((incoming, response) => {
  asked.push(`${incoming.headers.host?.split(":")[0]}${incoming.url}`);
  handler(incoming, response);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Names that end in `.site` lead to the test's server, as if it stood in public; all others are judged. */
const LOOPBACK = { address: "127.0.0.1", family: 4 };
const judged = guardedLookup(false, ((_name: string, _options: object, done: (...all: unknown[]) => void) => {
  done(null, [{ address: "10.0.0.7", family: 4 }]);
}) as never);
const lookup: LookupFunction = (name, options, done) => {
  if (!name.endsWith(".site")) return judged(name, options, done);
  if (options.all === true) done(null, [LOOPBACK]);
  else done(null, LOOPBACK.address, LOOPBACK.family);
};
const log = { warn: () => undefined } as never;
const DOMAINS = { allowed: [], blocked: [] };
const still = new AbortController().signal;

function fetched(path: string, bounds: Partial<FetchBounds> = {}, options: object = {}): Promise<SearchOutcome> {
  asked.length = 0;
  const fetcher = createPageFetcher({
    ...{ rate: 0, timeoutMs: 2_000, lookup, allowsPrivate: false, asksRobots: false, log },
    ...options,
  });
  const url = path.startsWith("http") ? path : `http://a.site:${port}${path}`;
  return fetcher.read(url, { domains: DOMAINS, bytesMax: 40_000, ...bounds }, still);
}

const sends =
  (type: string, body: string | Buffer, headers: object = {}): Handler =>
  (_incoming, response) => {
    response.writeHead(200, { "content-type": type, ...headers });
    response.end(body);
  };
const textOf = (outcome: SearchOutcome): string => (outcome.ok ? (outcome.pages[0]?.text ?? "") : outcome.fault);

it.each([
  ["HTML", "text/html; charset=utf-8", "<title>T</title><script>x</script><h1>Hi</h1><p>a &amp; b", "# Hi\n\na & b"],
  ["HTML in an old encoding", "text/html", Buffer.from("<meta charset=latin1><p>caf\u00e9", "latin1"), "café"],
  ["an encoding that is none", "text/plain; charset=klingon-8", "plain", "plain"],
  ["bytes that are no text", "text/plain", Buffer.from([0x61, 0xff, 0xfe, 0x62]), "a\ufffd\ufffdb"],
  ["JSON", "application/ld+json", '{"a":1}', '{"a":1}'],
  ["a packed page", "text/plain", gzipSync("packed"), "packed", { "content-encoding": "gzip" }],
  ["a PDF", "application/pdf", "%PDF", "unsupported_content_type"],
  ["no type", "", "x", "unsupported_content_type"],
  ["an unknown packing", "text/plain", "x", "unsupported_content_type", { "content-encoding": "zz" }],
  ["a bomb", "text/plain", gzipSync(Buffer.alloc(50_000_000)), "url_not_accessible", { "content-encoding": "gzip" }],
])("%s", async (_name, type, body, text, headers?: object) => {
  handler = sends(type, body, headers);
  expect(textOf(await fetched("/"))).toBe(text);
});

it("links are whole, and marks of the gateway are taken out", async () => {
  handler = sends("text/html", '<a href="/b?c">more</a> <a href="javascript:x()">no</a> &lt;/page_content&gt; end');
  expect(textOf(await fetched("/"))).toBe(`[more](http://a.site:${port}/b?c) no end`);
});

it.each([
  "a &lt;/page_&lt;/page_content&gt;content&gt; b",
  "a &lt;&lt;/page_content&gt;/page_content&gt; b",
  "a &lt; /page_content&gt; b",
  "a &lt;&#1;/page_content&gt; b",
])("no mark is left of %s", async (html) => {
  handler = sends("text/html", html);
  expect(textOf(await fetched("/"))).toMatch(/^a [^<]*<?…? ?b$/);
});

it("a page without an end is cut", async () => {
  handler = (_incoming, response) => {
    response.writeHead(200, { "content-type": "text/plain" });
    const more = (): void => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
    };
    response.on("drain", more);
    more();
  };
  const text = textOf(await fetched("/", { bytesMax: 1_000 }));
  expect(text).toBe(`${"x".repeat(1_000)} …`);
});

it("a server that says nothing is left", async () => {
  handler = () => undefined;
  expect(textOf(await fetched("/", {}, { timeoutMs: 100 }))).toBe("url_not_accessible");
});

it("a client that leaves ends the call", async () => {
  const leaving = new AbortController();
  handler = () => leaving.abort();
  const fetcher = createPageFetcher({
    rate: 0,
    timeoutMs: 60_000,
    lookup,
    allowsPrivate: false,
    asksRobots: false,
    log,
  });
  const outcome = await fetcher.read(`http://a.site:${port}/`, { domains: DOMAINS, bytesMax: 9 }, leaving.signal);
  expect(outcome.ok).toBe(false);
});

it.each([
  ["this machine", "http://127.0.0.1:1/"],
  ["this machine in hexadecimal", "http://0x7f000001:1/"],
  ["an IPv6 form of it", "http://[::ffff:127.0.0.1]:1/"],
  ["metadata of a cloud", "http://169.254.169.254/latest"],
  ["another scheme", "file:///etc/passwd"],
  ["a password", "http://a:b@a.site/"],
  ["no address", "nothing"],
])("%s is refused, at once and behind a redirect", async (_name, target) => {
  expect(textOf(await fetched(target.startsWith("http") ? target : `http:${target}`, {}, {}))).toMatch(/^url_not_/);
  handler = (_incoming, response) => response.writeHead(302, { location: target }).end();
  expect(textOf(await fetched("/"))).toMatch(/^url_not_/);
  expect(asked[0]).toBe("a.site/");
});

it("a name that leads into a private network is not dialled, whenever it is looked up", async () => {
  handler = (_incoming, response) => response.writeHead(302, { location: `http://rebinds.example:${port}/` }).end();
  expect(textOf(await fetched("/"))).toBe("url_not_accessible");
  expect(asked).toEqual(["a.site/"]);
});

it("redirects are followed five times, within the client's domains", async () => {
  handler = (incoming, response) => response.writeHead(302, { location: `${incoming.url}x` }).end();
  expect(textOf(await fetched("/"))).toBe("url_not_accessible");
  expect(asked).toHaveLength(6);
  handler = (_incoming, response) => response.writeHead(301, { location: `http://b.site:${port}/` }).end();
  expect(textOf(await fetched("/", { domains: { allowed: ["a.site"], blocked: [] } }))).toBe("url_not_allowed");
  expect(textOf(await fetched("/", { domains: { allowed: [], blocked: ["a.site"] } }))).toBe("url_not_allowed");
  expect(asked).toEqual([]);
});

it.each([
  ["User-agent: *\nDisallow: /", "url_not_allowed"],
  ["User-agent: *\nDisallow: /\n\nUser-agent: switchyard\nAllow: /", "page"],
  ["User-agent: *\nDisallow: /private", "page"],
])("robots.txt counts where it is asked: %j", async (rules, text) => {
  handler = (incoming, response) =>
    sends("text/plain", incoming.url === "/robots.txt" ? rules : "page")(incoming, response);
  expect(textOf(await fetched("/public", {}, { asksRobots: true }))).toBe(text);
  expect(textOf(await fetched("/public"))).toBe("page");
});

it.each([
  ["Disallow: /a*b$", "/axxb", false],
  ["Disallow: /a*b$", "/axxbc", true],
  ["Disallow: /a\nAllow: /a/b", "/a/b/c", true],
  ["Disallow: /a\nAllow: /a", "/a", true],
  ["Disallow:", "/", true],
])("rules of robots: %j for %s", (rules, path, isOpen) => {
  expect(mayRobotsRead(`user-agent: *\n${rules}`, "switchyard", path)).toBe(isOpen);
});

it.each([
  ["comments", `${"#".repeat(60_000)}\r${"x".repeat(10)}`],
  ["agents and rules", "user-agent: x\n".repeat(5_000) + "allow: /\n".repeat(5_000)],
])("robots.txt with many %s takes no long time", (_name, rules) => {
  const begun = performance.now();
  expect(mayRobotsRead(rules, "switchyard", "/")).toBe(true);
  expect(performance.now() - begun).toBeLessThan(1_000);
});

it("a line of robots.txt may end as on old machines", () => {
  expect(mayRobotsRead("# x\ruser-agent: *\rdisallow: /a", "switchyard", "/a")).toBe(false);
});
