// Gets a catalogue file from a file or an address. What is no catalogue is let go after its first part.

import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { Agent, request } from "undici";
import { FILE_BYTES_MAX, isCatalogueText } from "../../catalog/file/read.ts";
import { hostKind } from "../../config/network.ts";
import { guardedLookup } from "../lookup.ts";
import { NoPriceList } from "./price-list.ts";

const FILE_MS_MAX = 30_000;
/** A catalogue says what it is at its beginning. */
const HEAD_BYTES = 1024;

/** The text of a catalogue file; null where it is something else. Throws NoPriceList. */
export async function fetchCatalogueText(from: string, cwd: string): Promise<string | null> {
  try {
    return await (/^https?:\/\//i.test(from) ? download(from) : textOf(from, createReadStream(resolve(cwd, from))));
  } catch (error) {
    if (error instanceof NoPriceList) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new NoPriceList(`${from} cannot be read: ${code === "ENOENT" ? "there is no such file" : message}.`);
  }
}

async function download(address: string): Promise<string | null> {
  const { hostname } = URL.canParse(address) ? new URL(address) : { hostname: "" };
  if (hostname === "" || hostKind(hostname) === "forbidden") throw new NoPriceList(`${address} is never called.`);
  const agent = new Agent({ connect: { timeout: FILE_MS_MAX, lookup: guardedLookup(true) } });
  try {
    const signal = AbortSignal.timeout(FILE_MS_MAX);
    const headers = { accept: "application/json", "user-agent": "switchyard" };
    const { statusCode, body } = await request(address, { dispatcher: agent, signal, headers });
    if (statusCode !== 200) throw new NoPriceList(`${address} answered ${statusCode}.`);
    return await textOf(address, body);
  } finally {
    await agent.destroy();
  }
}

async function textOf(name: string, bytes: AsyncIterable<Buffer>): Promise<string | null> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of bytes) {
    parts.push(part);
    length += part.length;
    const isFirst = length === part.length;
    if (isFirst && length >= HEAD_BYTES && !isCatalogueText(part.toString("utf8"))) return null;
    if (length > FILE_BYTES_MAX) throw new NoPriceList(`${name} is larger than a catalogue.`);
  }
  const text = Buffer.concat(parts).toString("utf8");
  return isCatalogueText(text) ? text : null;
}
