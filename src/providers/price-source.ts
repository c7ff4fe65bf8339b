// Gets a price list from a file or an address, and reads it while it arrives. Its size and the time it may take are
// bounded, and redirects are not followed.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Agent, request } from "undici";
import { NotJson } from "../catalog/prices/entries.ts";
import { createListReader, type PriceList, type ReadTerms } from "../catalog/prices/list.ts";
import { hostKind } from "../config/network.ts";
import { guardedLookup } from "./lookup.ts";

/** Many times the size of the lists that people share. */
const LIST_BYTES_MAX = 16 * 1024 * 1024;
const LIST_MS_MAX = 30_000;

/** A list that cannot be had; the message says why. */
export class NoPriceList extends Error {}

export interface SourcedList extends PriceList {
  /** The address, or the file's name. */
  readonly source: string;
}

/** Marks by which a server knows the version that was read last. */
interface VersionMarks {
  readonly etag: string | null;
  readonly modified: string | null;
}

export interface FetchTerms extends ReadTerms {
  readonly cwd: string;
  /** Marks of the version that is known. Null reads the list in any case. */
  readonly known: VersionMarks | null;
  readonly withinMs?: number;
}

/** A list, or nothing where it is the known one. */
export type Fetched =
  | ({ readonly isUnchanged: false; readonly list: SourcedList } & VersionMarks)
  | { readonly isUnchanged: true };

/** `from` is an http address or a path. Throws NoPriceList. */
export async function fetchPriceList(from: string, cwd: string): Promise<SourcedList> {
  const day = new Date().toISOString().slice(0, 10);
  const fetched = await fetchFeed(from, { cwd, day, known: null });
  if (fetched.isUnchanged) throw new NoPriceList(unreadable(from, "it answered nothing"));
  return fetched.list;
}

/** Throws NoPriceList. */
export async function fetchFeed(from: string, terms: FetchTerms): Promise<Fetched> {
  try {
    return await (/^https?:\/\//i.test(from) ? download(from, terms) : readFile(from, terms));
  } catch (error) {
    if (error instanceof NoPriceList) throw error;
    if (error instanceof NotJson) throw new NoPriceList(`${from} is not valid JSON.`);
    throw new NoPriceList(unreadable(from, causeOf(error)));
  }
}

function unreadable(from: string, why: string): string {
  return `${from} cannot be read: ${why}.`;
}

function causeOf(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (name === "TimeoutError") return `no complete answer within ${LIST_MS_MAX / 1000} s`;
  return code === "ENOENT" ? "there is no such file" : message;
}

async function readFile(name: string, terms: FetchTerms): Promise<Fetched> {
  const path = resolve(terms.cwd, name);
  const { mtimeMs, size } = await stat(path);
  const etag = `${mtimeMs} ${size}`;
  if (terms.known?.etag === etag) return { isUnchanged: true };
  const list = await readBounded(name, createReadStream(path), terms);
  return { isUnchanged: false, list, etag, modified: null };
}

async function download(address: string, terms: FetchTerms): Promise<Fetched> {
  const { known, withinMs = LIST_MS_MAX } = terms;
  const { hostname } = URL.canParse(address) ? new URL(address) : { hostname: "" };
  if (hostname === "" || hostKind(hostname) === "forbidden") throw new NoPriceList(`${address} is never called.`);
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
    if (statusCode === 304 && known !== null) return { isUnchanged: true };
    if (statusCode >= 300 && statusCode <= 399) {
      throw new NoPriceList(`${address} redirects to another address (${statusCode}). Set the address itself.`);
    }
    if (statusCode !== 200) throw new NoPriceList(`${address} answered ${statusCode}.`);
    const isZipped = String(headers["content-encoding"] ?? "").toLowerCase() === "gzip";
    const bytes = isZipped ? unzipped(body) : body;
    const list = await readBounded(address, bytes, terms);
    return { isUnchanged: false, list, etag: textOf(headers.etag), modified: textOf(headers["last-modified"]) };
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

/** Counts the bytes after unpacking. */
async function readBounded(source: string, bytes: Readable, terms: ReadTerms): Promise<SourcedList> {
  const reader = createListReader(terms);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let length = 0;
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > LIST_BYTES_MAX) {
      throw new NoPriceList(`${source} is larger than ${LIST_BYTES_MAX / 1024 / 1024} MB, so it is no price list.`);
    }
    reader.push(decoder.decode(chunk, { stream: true }));
  }
  reader.push(decoder.decode());
  const list = reader.end();
  if (list === null) throw new NoPriceList(`${source} is no price list of LiteLLM, OpenRouter or genai-prices.`);
  return { ...list, source };
}
