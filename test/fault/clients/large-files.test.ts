// A file that is many times as large as the memory it may take: uploaded in parts, joined, and read again. And one of 10 GB,
// which is refused before a byte of it is read.

import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import { isLong } from "../../support/random.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const MB = 1024 * 1024;
const PART = 32 * MB;
const PARTS = isLong ? 32 : 3;
/** What the process may grow by, whatever the file's size: buffers of both directions, and pages of the database. */
const GROWTH_MAX_MB = 60;
const BOUNDARY = "x".repeat(20);

const folder = mkdtempSync(join(tmpdir(), "switchyard-large-"));
let gateway: GatewayProcess;
let key = "";
beforeAll(async () => {
  await ensureBuild();
  const env = { NODE_OPTIONS: "--max-old-space-size=96", SWITCHYARD_FILES_BYTES_PER_ACCOUNT: String(PARTS * PART) };
  gateway = await startGatewayProcess({ folder, env });
  key = gateway.firstKey ?? "";
});
afterAll(async () => {
  await gateway.kill();
  rmSync(folder, { recursive: true, force: true });
});

const residentMb = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

/** The same bytes for each part, in pieces, so that this process has not all of it either. */
async function* partBytes(seed: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < PART; at += MB) yield Buffer.alloc(MB, (seed + at / MB) % 251);
}

async function* form(seed: number): AsyncGenerator<Buffer> {
  yield Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="data"; filename="blob"\r\n\r\n`);
  yield* partBytes(seed);
  yield Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
}

async function post<T>(path: string, body: object): Promise<T> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as T;
}

function sendPart(path: string, seed: number): Promise<{ id: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
    };
    const sent = httpRequest(`${gateway.url}${path}`, { method: "POST", headers }, async (response) => {
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece as Buffer);
      resolve(JSON.parse(Buffer.concat(pieces).toString()) as { id: string });
    });
    sent.on("error", reject);
    Readable.from(form(seed)).pipe(sent);
  });
}

test.skipIf(process.platform !== "linux")("takes no memory for its size", async () => {
  const about = { filename: "large.bin", purpose: "user_data", bytes: PARTS * PART, mime_type: "application/x-bin" };
  // What the first upload loads is no part of the growth.
  const small = await post<{ id: string }>("/v1/uploads", { ...about, bytes: PART });
  await sendPart(`/v1/uploads/${small.id}/parts`, 0);
  await post(`/v1/uploads/${small.id}/cancel`, {});
  const before = residentMb();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, residentMb());
  }, 50);
  const { id } = await post<{ id: string }>("/v1/uploads", about);
  const ids: string[] = [];
  const md5 = createHash("md5");
  for (let seed = 0; seed < PARTS; seed += 1) {
    for await (const piece of partBytes(seed)) md5.update(piece);
    ids.push((await sendPart(`/v1/uploads/${id}/parts`, seed)).id);
  }
  const sum = md5.digest("hex");
  const done = await post<{ file: { id: string } }>(`/v1/uploads/${id}/complete`, { part_ids: ids, md5: sum });
  const content = await fetch(`${gateway.url}/v1/files/${done.file.id}/content`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const read = createHash("md5");
  for await (const piece of content.body ?? []) read.update(piece as Uint8Array);
  clearInterval(watch);
  expect(read.digest("hex")).toBe(sum);
  expect(most - before).toBeLessThan(GROWTH_MAX_MB);
});

test("10 GB are refused before a byte of them is read", async () => {
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
      "content-length": String(10 * 1024 * MB),
    };
    const sent = httpRequest(`${gateway.url}/v1/files`, { method: "POST", headers });
    sent.on("response", (response) => {
      resolve(response.statusCode);
      sent.destroy();
    });
    sent.on("error", reject);
    sent.flushHeaders();
  });
  expect(status).toBe(413);
});
