// Gets a price list from a file or an address. Its size and the time it may take are bounded, and redirects are not
// followed.

import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { Agent, request } from "undici";
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
  const text = /^https?:\/\//i.test(from) ? await download(from) : await readText(resolve(cwd, from), from);
  const list = readPriceList(text, { day: new Date().toISOString().slice(0, 10) });
  if (list === null) throw new NoPriceList(`${from} is no price list of LiteLLM or OpenRouter.`);
  return { ...list, source: from };
}

async function readText(path: string, name: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      if (size > LIST_BYTES_MAX) throw new NoPriceList(`${name} is larger than a price list.`);
      return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof NoPriceList) throw error;
    throw new NoPriceList(`${name} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unreadable"}).`);
  }
}

async function download(address: string): Promise<string> {
  const { hostname } = URL.canParse(address) ? new URL(address) : { hostname: "" };
  if (hostname === "" || hostKind(hostname) === "forbidden") throw new NoPriceList(`${address} is never called.`);
  const agent = new Agent({ connect: { timeout: LIST_MS_MAX, lookup: guardedLookup(true) } });
  try {
    const signal = AbortSignal.timeout(LIST_MS_MAX);
    const headers = { accept: "application/json", "user-agent": "switchyard" };
    const { statusCode, body } = await request(address, { dispatcher: agent, signal, headers });
    if (statusCode !== 200) throw new NoPriceList(`${address} answered ${statusCode}.`);
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > LIST_BYTES_MAX) throw new NoPriceList(`${address} is larger than a price list.`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString("utf8");
  } catch (error) {
    if (error instanceof NoPriceList) throw error;
    throw new NoPriceList(`${address} cannot be read: ${(error as Error).message}.`);
  } finally {
    await agent.destroy();
  }
}
