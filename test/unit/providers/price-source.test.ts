// Feeds over the network and from files: how much is read, for how long, and what is never followed.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FetchTerms, fetchFeed } from "../../../src/providers/sources/price-list.ts";

const MB = 1024 * 1024;
const ROW = { litellm_provider: "groq", input_cost_per_token: 1e-6, output_cost_per_token: 3e-6 };
const LIST = JSON.stringify({ "groq/alpha": ROW });

let answer: (request: IncomingMessage, response: ServerResponse) => void;
const requests: IncomingMessage[] = [];
const server = createServer((request, response) => {
  requests.push(request);
  answer(request, response);
});
let url: string;
const folder = mkdtempSync(join(tmpdir(), "switchyard-feeds-"));

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/list.json`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

const read = (from = url, more: Partial<FetchTerms> = {}) =>
  fetchFeed(from, { cwd: folder, day: "2026-11-19", known: null, ...more });

/** Sends text until the other side has enough. */
function endless(response: ServerResponse, part: string, encode: (text: string) => Buffer | string = (text) => text) {
  const send = (): void => {
    while (!response.destroyed && response.write(encode(part)));
  };
  response.on("drain", send).on("error", () => undefined);
  send();
}

test("a list is read packed or not, and asked for again only when it changed", async () => {
  answer = (_, response) => void response.writeHead(200, { etag: '"1"', "last-modified": "Thu" }).end(LIST);
  const first = await read();
  expect(first).toMatchObject({
    etag: '"1"',
    modified: "Thu",
    changedAtMs: null,
    list: { source: url, rows: [{ upstream: "alpha" }] },
  });
  const sent = requests.at(-1)?.headers;
  expect(sent).toMatchObject({ "accept-encoding": "gzip", "user-agent": "switchyard" });
  expect(Object.keys(sent ?? {}).sort()).toEqual(["accept", "accept-encoding", "connection", "host", "user-agent"]);
  answer = (_, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(LIST));
  expect(await read()).toMatchObject({ list: { rows: [{ upstream: "alpha" }] }, etag: null });
  answer = (_, response) => void response.writeHead(304).end();
  expect(await read(url, { known: { etag: '"1"', modified: "Thu" } })).toEqual({ isUnchanged: true });
  expect(requests.at(-1)?.headers).toMatchObject({ "if-none-match": '"1"', "if-modified-since": "Thu" });
});

test("a list knows when it changed last, and its digest changes with its text", async () => {
  const modified = "Thu, 05 Nov 2026 08:00:00 GMT";
  answer = (_, response) => void response.writeHead(200, { "last-modified": modified }).end(LIST);
  const [one, same] = [await read(), await read()];
  answer = (_, response) => void response.writeHead(200).end(`${LIST} `);
  const other = await read();
  if (one.isUnchanged || same.isUnchanged || other.isUnchanged) throw new Error("a list was not read");
  expect([one.changedAtMs, other.changedAtMs]).toEqual([Date.parse(modified), null]);
  expect(same.list.digest).toBe(one.list.digest);
  expect(other.list.digest).not.toBe(one.list.digest);
});

test("a file is read again only when it changed", async () => {
  writeFileSync(join(folder, "list.json"), LIST);
  const first = await read("list.json");
  if (first.isUnchanged) throw new Error("the file was not read");
  expect(first.list).toMatchObject({ source: "list.json", rows: [{ upstream: "alpha" }] });
  expect(await read("list.json", { known: first })).toEqual({ isUnchanged: true });
  writeFileSync(join(folder, "list.json"), `${LIST} `);
  expect(await read("list.json", { known: first })).toMatchObject({ isUnchanged: false });
  await expect(read("gone.json")).rejects.toThrow("gone.json cannot be read: there is no such file.");
});

test("more than 16 MB are not read, packed or not", async () => {
  const entry = `"groq/x": ${JSON.stringify(ROW)}, "pad": "${" ".repeat(MB)}",`;
  let sentBytes = 0;
  answer = (_, response) => {
    response.writeHead(200);
    response.write("{");
    endless(response, entry, (text) => {
      sentBytes += text.length;
      return text;
    });
  };
  await expect(read()).rejects.toThrow("is larger than 16 MB, so it is no price list.");
  expect(sentBytes).toBeLessThan(50 * MB);
  const bomb = gzipSync(`{${entry.repeat(50)}`);
  expect(bomb.length).toBeLessThan(MB);
  answer = (_, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
  await expect(read()).rejects.toThrow("is larger than 16 MB");
});

test("a redirect is not followed, to a private address or any other", async () => {
  answer = (_, response) => void response.writeHead(302, { location: "http://169.254.169.254/" }).end();
  const before = requests.length;
  await expect(read()).rejects.toThrow("redirects to another address (302). Set the address itself.");
  expect(requests.length).toBe(before + 1);
  await expect(read("http://169.254.169.254/list.json")).rejects.toThrow("is never called.");
});

test("a server that hangs is left after a while, before its headers and in the middle", async () => {
  answer = () => undefined;
  await expect(read(url, { withinMs: 50 })).rejects.toThrow("no complete answer within 0.05 s");
  answer = (_, response) => void response.writeHead(200).write('{"groq/alpha": ');
  await expect(read(url, { withinMs: 50 })).rejects.toThrow("no complete answer within");
});

test.each([
  ["an error", 500, "down", "answered 500."],
  ["a page", 200, "<html>", "is not valid JSON."],
  ["half a list", 200, LIST.slice(0, -3), "is not valid JSON."],
  ["no text", 200, Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), "cannot be read"],
  ["another list", 200, '{"models": 3}', "is no price list of LiteLLM, OpenRouter or genai-prices."],
  ["nothing", 200, "", "is not valid JSON."],
])("%s is refused in words", async (_, status, body, words) => {
  answer = (_request, response) => void response.writeHead(status).end(body);
  await expect(read()).rejects.toThrow(words);
});
