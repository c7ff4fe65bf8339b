// Gets a price list or a catalogue from a file or an address. Its size and the time it may take are bounded, and redirects are not
// followed.

import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { Agent, request } from "undici";
import { FILE_BYTES_MAX, isCatalogueText } from "../catalog/file/read.ts";
import { type PriceList, readPriceList } from "../catalog/prices/list.ts";
import { hostKind } from "../config/network.ts";
import { guardedLookup } from "./lookup.ts";

/** Many times the size of the lists that people share. */
const LIST_BYTES_MAX = 32 * 1024 * 1024;
const LIST_MS_MAX = 30_000;

/** A list that cannot be had; the message says why. */
export class NoPriceList extends Error {}

export interface SourcedList extends PriceList {
  /** The address, or the file's name. */
  readonly source: string;
}

/** `from` is an http address or a path. Throws NoPriceList. */
export async function fetchPriceList(from: string, cwd: string): Promise<SourcedList> {
  const text = await textOf(partsOf(from, cwd));
  const list = readPriceList(text, { day: new Date().toISOString().slice(0, 10) });
  if (list === null) throw new NoPriceList(`${from} is no price list of LiteLLM, OpenRouter or genai-prices.`);
  return { ...list, source: from };
}

/** The text of a catalogue file. Null, after its first part, where it is something else. Throws NoPriceList. */
export async function fetchCatalogueText(from: string, cwd: string): Promise<string | null> {
  const parts: Buffer[] = [];
  for await (const part of partsOf(from, cwd)) {
    parts.push(part);
    const head = parts.length > 1 ? "" : part.toString("utf8");
    if (parts.length === 1 && part.length >= HEAD_BYTES && !isCatalogueText(head)) return null;
    if (lengthOf(parts) > FILE_BYTES_MAX) throw new NoPriceList(`${from} is larger than a catalogue.`);
  }
  const text = Buffer.concat(parts).toString("utf8");
  return isCatalogueText(text) ? text : null;
}

/** Our files say what they are at their beginning. */
const HEAD_BYTES = 1024;

function lengthOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

async function textOf(parts: AsyncIterable<Buffer>): Promise<string> {
  const read: Buffer[] = [];
  for await (const part of parts) read.push(part);
  return Buffer.concat(read).toString("utf8");
}

/** Ends with an error where the source is too large. */
async function* partsOf(from: string, cwd: string): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const part of /^https?:\/\//i.test(from) ? download(from) : readParts(resolve(cwd, from), from)) {
    length += part.length;
    if (length > LIST_BYTES_MAX) throw new NoPriceList(`${from} is larger than a price list.`);
    yield part;
  }
}

async function* readParts(path: string, name: string): AsyncGenerator<Buffer> {
  try {
    for await (const part of createReadStream(path)) yield part as Buffer;
  } catch (error) {
    throw new NoPriceList(`${name} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unreadable"}).`);
  }
}

async function* download(address: string): AsyncGenerator<Buffer> {
  const { hostname } = URL.canParse(address) ? new URL(address) : { hostname: "" };
  if (hostname === "" || hostKind(hostname) === "forbidden") throw new NoPriceList(`${address} is never called.`);
  const agent = new Agent({ connect: { timeout: LIST_MS_MAX, lookup: guardedLookup(true) } });
  try {
    const signal = AbortSignal.timeout(LIST_MS_MAX);
    const headers = { accept: "application/json", "user-agent": "switchyard" };
    const { statusCode, body } = await request(address, { dispatcher: agent, signal, headers });
    if (statusCode !== 200) throw new NoPriceList(`${address} answered ${statusCode}.`);
    yield* body as AsyncIterable<Buffer>;
  } catch (error) {
    if (error instanceof NoPriceList) throw error;
    throw new NoPriceList(`${address} cannot be read: ${(error as Error).message}.`);
  } finally {
    await agent.destroy();
  }
}
