// Gets a catalogue file from a file or an address. What is no catalogue is let go after its first part.

import { FILE_BYTES_MAX, isCatalogueText } from "../../catalog/file/read.ts";
import { readSource, UnreadableSource } from "./source.ts";

/** A catalogue says what it is at its beginning. */
const HEAD_BYTES = 1024;

/** The text of a catalogue file; null where it is something else. Throws UnreadableSource. */
export async function fetchCatalogueText(from: string, cwd: string): Promise<string | null> {
  return readSource(from, { cwd, known: null }, ({ bytes }) => textOf(from, bytes));
}

async function textOf(name: string, bytes: AsyncIterable<Buffer>): Promise<string | null> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of bytes) {
    parts.push(part);
    length += part.length;
    const isFirst = length === part.length;
    if (isFirst && length >= HEAD_BYTES && !isCatalogueText(part.toString("utf8"))) return null;
    if (length > FILE_BYTES_MAX) throw new UnreadableSource(`${name} is larger than a catalogue.`);
  }
  const text = Buffer.concat(parts).toString("utf8");
  return isCatalogueText(text) ? text : null;
}
