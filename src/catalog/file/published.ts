// A catalogue that was published as a version of the run-time configuration: packed into the document, so that every
// process has it and the way back needs no file.

import { deflateSync, inflateSync } from "node:zlib";
import type { Builtin } from "../builtin.ts";
import { type CatalogueFile, compareVersions, versionOf, withFile } from "./file.ts";
import { BadCatalogue, FILE_BYTES_MAX, readCatalogue } from "./read.ts";

/** The section of the document. */
export const CATALOGUE_SECTION = "catalogueFile";

/** A published catalogue as a document has it. */
export interface PublishedCatalogue {
  readonly version: string;
  /** The public key whose signature was good when it was published. */
  readonly signedBy: string;
  /** The newest version that was known then. A package with a newer one than both uses its own. */
  readonly over: string;
  /** The file without its signature: base64 of deflated JSON. */
  readonly data: string;
}

export function packCatalogue(file: CatalogueFile, signedBy: string, over: string): PublishedCatalogue {
  const { signature: _, ...content } = file;
  const data = deflateSync(JSON.stringify(content), { level: 9 }).toString("base64");
  return { version: file.version, signedBy, over, data };
}

/** Throws BadCatalogue. */
function unpackCatalogue({ data, version }: PublishedCatalogue): CatalogueFile {
  let text: string;
  try {
    text = inflateSync(Buffer.from(data, "base64"), { maxOutputLength: FILE_BYTES_MAX }).toString("utf8");
  } catch {
    throw new BadCatalogue("Its data cannot be unpacked.");
  }
  const file = readCatalogue(text);
  if (file.version !== version) throw new BadCatalogue(`It is version ${file.version} and not ${version}.`);
  return file;
}

/** The last one is asked for again and again, by every version that is published or rolled back to. */
let last: { readonly shipped: Builtin; readonly data: string; readonly builtin: Builtin } | null = null;

/** The catalogue in use: the published one, unless a package that came later has a newer one. Throws BadCatalogue. */
export function catalogueInUse(shipped: Builtin, published: PublishedCatalogue | null): Builtin {
  if (published === null) return shipped;
  const own = versionOf(shipped.tiers);
  if (compareVersions(own, published.version) > 0 && compareVersions(own, published.over) > 0) return shipped;
  if (last === null || last.shipped !== shipped || last.data !== published.data) {
    last = { shipped, data: published.data, builtin: withFile(shipped, unpackCatalogue(published)) };
  }
  return last.builtin;
}

/** Reads the section of a document; null where it is absent. Throws BadCatalogue. */
export function publishedIn(section: unknown): PublishedCatalogue | null {
  if (section === undefined || section === null) return null;
  const { version, signedBy, over, data } = section as Partial<Record<keyof PublishedCatalogue, unknown>>;
  const isWhole = [version, signedBy, over, data].every((each) => typeof each === "string");
  if (typeof section !== "object" || !isWhole || Object.keys(section).length !== FIELDS) {
    throw new BadCatalogue("It has to have version, signedBy, over and data.");
  }
  return section as PublishedCatalogue;
}

const FIELDS = 4;
