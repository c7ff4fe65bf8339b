// Opens a file or an address that somebody named, for one reading. Its time is bounded, and redirects are not followed.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Agent, request } from "undici";
import { hostKind } from "../../config/network.ts";
import { guardedLookup } from "../lookup.ts";

const READING_MS_MAX = 30_000;

/** A source that cannot be had; the message says why. */
export class UnreadableSource extends Error {}

/** Marks by which a server knows the version that was read last. */
export interface VersionMarks {
  readonly etag: string | null;
  readonly modified: string | null;
}

export interface SourceTerms {
  readonly cwd: string;
  /** Marks of the version that is known. Null reads the source in any case. */
  readonly known: VersionMarks | null;
  /** Bounds the whole reading of an address. */
  readonly withinMs?: number;
}

export interface OpenSource extends VersionMarks {
  readonly bytes: Readable;
  /** The source's own word on its last change; null where it has none. */
  readonly changedAtMs: number | null;
}

/** `from` is an http address or a path. Returns null where it is the known version. Throws UnreadableSource. */
export async function readSource<Result>(
  from: string,
  terms: SourceTerms,
  read: (source: OpenSource) => Promise<Result>,
): Promise<Result | null> {
  try {
    return await (/^https?:\/\//i.test(from) ? download(from, terms, read) : readFile(from, terms, read));
  } catch (error) {
    if (error instanceof UnreadableSource) throw error;
    throw new UnreadableSource(`${from} cannot be read: ${causeOf(error, terms)}.`);
  }
}

function causeOf(error: unknown, { withinMs = READING_MS_MAX }: SourceTerms): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (name === "TimeoutError") return `no complete answer within ${withinMs / 1000} s`;
  return code === "ENOENT" ? "there is no such file" : message;
}

async function readFile<Result>(
  name: string,
  { cwd, known }: SourceTerms,
  read: (source: OpenSource) => Promise<Result>,
): Promise<Result | null> {
  const path = resolve(cwd, name);
  const { mtimeMs, size } = await stat(path);
  const etag = `${mtimeMs} ${size}`;
  if (known?.etag === etag) return null;
  return read({ bytes: createReadStream(path), etag, modified: null, changedAtMs: Math.round(mtimeMs) });
}

async function download<Result>(
  address: string,
  { known, withinMs = READING_MS_MAX }: SourceTerms,
  read: (source: OpenSource) => Promise<Result>,
): Promise<Result | null> {
  const { hostname } = URL.canParse(address) ? new URL(address) : { hostname: "" };
  if (hostname === "" || hostKind(hostname) === "forbidden") throw new UnreadableSource(`${address} is never called.`);
  const agent = new Agent({ connect: { timeout: withinMs, lookup: guardedLookup(true) } });
  try {
    const signal = AbortSignal.timeout(withinMs);
    const { statusCode, headers, body } = await request(address, {
      ...{ dispatcher: agent, signal },
      headers: {
        ...{ accept: "application/json", "accept-encoding": "gzip", "user-agent": "switchyard" },
        ...(known?.etag == null ? {} : { "if-none-match": known.etag }),
        ...(known?.modified == null ? {} : { "if-modified-since": known.modified }),
      },
    });
    if (statusCode === 304 && known !== null) return null;
    if (statusCode >= 300 && statusCode <= 399) {
      throw new UnreadableSource(`${address} redirects to another address (${statusCode}). Set the address itself.`);
    }
    if (statusCode !== 200) throw new UnreadableSource(`${address} answered ${statusCode}.`);
    const isZipped = String(headers["content-encoding"] ?? "").toLowerCase() === "gzip";
    const [etag, modified] = [textOf(headers.etag), textOf(headers["last-modified"])];
    const changedAtMs = Date.parse(modified ?? "");
    return await read({
      ...{ bytes: isZipped ? unzipped(body) : body, etag, modified },
      changedAtMs: Number.isNaN(changedAtMs) ? null : changedAtMs,
    });
  } finally {
    await agent.destroy();
  }
}

function unzipped(body: Readable): Readable {
  const gunzip = createGunzip();
  body.on("error", (error) => gunzip.destroy(error));
  return body.pipe(gunzip);
}

function textOf(header: string | readonly string[] | undefined): string | null {
  return typeof header === "string" ? header : null;
}
