// Gets a price list from a file or an address, and reads it while it arrives. Its size is bounded.

import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { NotJson } from "../../catalog/prices/entries.ts";
import { createListReader, type PriceList, type ReadTerms } from "../../catalog/prices/list.ts";
import { readSource, type SourceTerms, UnreadableSource, type VersionMarks } from "./source.ts";

/** Many times the size of the lists that people share. */
const LIST_BYTES_MAX = 16 * 1024 * 1024;

export interface SourcedList extends PriceList {
  /** The address, or the file's name. */
  readonly source: string;
  /** Changes with the text of the list. */
  readonly digest: string;
}

export interface FetchTerms extends ReadTerms, SourceTerms {}

/** A list, or nothing where it is the known one. */
export type Fetched =
  | ({ readonly isUnchanged: false; readonly list: SourcedList; readonly changedAtMs: number | null } & VersionMarks)
  | { readonly isUnchanged: true };

/** `from` is an http address or a path. Throws UnreadableSource. */
export async function fetchPriceList(from: string, cwd: string): Promise<SourcedList> {
  const day = new Date().toISOString().slice(0, 10);
  const fetched = await fetchFeed(from, { cwd, day, known: null });
  if (fetched.isUnchanged) throw new UnreadableSource(`${from} cannot be read: it answered nothing.`);
  return fetched.list;
}

/** Throws UnreadableSource. */
export async function fetchFeed(from: string, terms: FetchTerms): Promise<Fetched> {
  const fetched = await readSource(from, terms, async ({ bytes, etag, modified, changedAtMs }) => {
    const list = await readBounded(from, bytes, terms);
    return { isUnchanged: false, list, etag, modified, changedAtMs } as const;
  });
  return fetched ?? { isUnchanged: true };
}

/** Counts the bytes after unpacking. */
async function readBounded(source: string, bytes: Readable, terms: ReadTerms): Promise<SourcedList> {
  const reader = createListReader(terms);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const hash = createHash("sha256");
  let length = 0;
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > LIST_BYTES_MAX) {
        throw new UnreadableSource(
          `${source} is larger than ${LIST_BYTES_MAX / 1024 / 1024} MB, so it is no price list.`,
        );
      }
      hash.update(chunk);
      reader.push(decoder.decode(chunk, { stream: true }));
    }
    reader.push(decoder.decode());
    const list = reader.end();
    if (list !== null) return { ...list, source, digest: hash.digest("base64url") };
  } catch (error) {
    throw error instanceof NotJson ? new UnreadableSource(`${source} is not valid JSON.`) : error;
  }
  throw new UnreadableSource(`${source} is no price list of LiteLLM, OpenRouter or genai-prices.`);
}
