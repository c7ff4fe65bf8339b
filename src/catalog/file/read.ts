// Reads a catalogue file. What is not wholly as it should be is refused with every reason; nothing is taken over in part.

import { Compile } from "typebox/compile";
import { readEntry } from "../../core/requests/effort.ts";
import { TIERS } from "../../core/tiers.ts";
import { priceFromRow } from "../prices/rows.ts";
import { hostRows } from "../rows.ts";
import type { CatalogueFile, Signature } from "./file.ts";
import { CATALOGUE_SCHEMA } from "./schema.ts";
import { isSignatureOf } from "./signature.ts";

/** Many times the size of a catalogue. */
export const FILE_BYTES_MAX = 4 * 1024 * 1024;
/** Deeper than any real file. */
const DEPTH_MAX = 16;
const PROBLEMS_MAX = 5;

/** A file that cannot be used; the message says why. */
export class BadCatalogue extends Error {}

/** Tells a catalogue from a price list, also where it is cut off or broken. */
export function isCatalogueText(text: string): boolean {
  return text.slice(0, FILE_BYTES_MAX).includes('"switchyard-catalogue"');
}

/** Reads a file that comes from outside. Throws BadCatalogue where no trusted key has signed it as it is. */
export function readSignedCatalogue(text: string, trusted: readonly string[]): SignedCatalogue {
  const value = parse(text);
  const signature = signatureIn(value);
  if (signature === null) throw new BadCatalogue("It has no signature. Sign it with the command `models sign`.");
  if (!trusted.includes(signature.key)) {
    const advice = "If you trust it, add it to prices.catalogueKeys (SWITCHYARD_CATALOGUE_KEYS).";
    throw new BadCatalogue(`It is signed with the key ${signature.key}, which is not trusted. ${advice}`);
  }
  if (!isSignatureOf(value, signature)) {
    throw new BadCatalogue("Its signature is wrong: it was changed after it was signed.");
  }
  return { file: checked(value), signedBy: signature.key };
}

export interface SignedCatalogue {
  readonly file: CatalogueFile;
  /** The public key. */
  readonly signedBy: string;
}

/** The signature in a file of which nothing is known yet. */
function signatureIn(value: object): Signature | null {
  const { signature } = value as { readonly signature?: Partial<Signature> | null };
  const { algorithm, key, value: own } = signature ?? {};
  return algorithm === "ed25519" && typeof key === "string" && typeof own === "string"
    ? { algorithm, key, value: own }
    : null;
}

/** Throws BadCatalogue. Whether the signature is good is another question. */
export function readCatalogue(text: string): CatalogueFile {
  return checked(parse(text));
}

function parse(text: string): object {
  if (Buffer.byteLength(text) > FILE_BYTES_MAX) throw new BadCatalogue("It is larger than 4 MB.");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadCatalogue("It is cut off, or is not JSON.");
  }
  if (typeof value !== "object" || value === null) throw new BadCatalogue("It is not a JSON object.");
  if (isTooDeep(value)) throw new BadCatalogue("It is nested too deeply.");
  return value;
}

function checked(value: object): CatalogueFile {
  refuse(schemaProblems(value));
  const file = value as CatalogueFile;
  refuse(dataProblems(file));
  return file;
}

function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const shown = problems.slice(0, PROBLEMS_MAX).join("; ");
  const rest = problems.length - PROBLEMS_MAX;
  throw new BadCatalogue(`${shown}${rest > 0 ? `; and ${rest} more problems` : ""}.`);
}

/** Without recursion. */
function isTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth < DEPTH_MAX; depth += 1) {
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
    if (level.length === 0) return false;
  }
  return true;
}

let compiled: ReturnType<typeof Compile> | undefined;

function schemaProblems(value: unknown): readonly string[] {
  compiled ??= Compile(CATALOGUE_SCHEMA);
  if (compiled.Check(value)) return [];
  const format = (value as { readonly format?: unknown } | null)?.format;
  if (typeof format === "number" && format > 1) return ["It was made for a newer version of Switchyard"];
  return compiled.Errors(value).map(({ instancePath, message, params }) => {
    const { additionalProperties: unknown } = params as { readonly additionalProperties?: readonly string[] };
    const place = placeOf(instancePath, value);
    return unknown === undefined ? `${place} ${message}` : `${place} has the unknown field ${unknown.join(", ")}`;
  });
}

/** Models are named by their ids. */
function placeOf(path: string, value: unknown): string {
  const [first = "", second = "", ...rest] = path.split("/").slice(1);
  if (first === "") return "the file";
  const { models } = value as { readonly models?: unknown };
  const id = first === "models" && Array.isArray(models) ? models[Number(second)]?.id : undefined;
  return [first, typeof id === "string" ? id : second, ...rest].filter((step) => step !== "").join(".");
}

/** Rules that no schema can say. */
function dataProblems({ version, date, models, dialects, chains, chainsWithTools = {}, aliases }: CatalogueFile) {
  const problems: string[] = [];
  if (!version.startsWith(`${date}.`)) problems.push(`version ${version} is not of the date ${date}`);
  const ids = new Set<string>();
  for (const row of models) {
    if (ids.has(row.id)) problems.push(`models.${row.id} is listed twice`);
    ids.add(row.id);
    const hosts = hostRows(row);
    if (hosts.length === 0) problems.push(`models.${row.id} has no host`);
    for (const host of hosts) {
      const at = `models.${row.id} at ${host.provider}`;
      const price = host.price ?? row.price;
      if (price === undefined) problems.push(`${at} has no price`);
      else if (priceFromRow(price) === null)
        problems.push(`${at} has a price that is not exact or has its dates out of order`);
      const { dialect } = host;
      if (typeof dialect === "string" && !Object.hasOwn(dialects, dialect))
        problems.push(`${at} has the unknown dialect ${dialect}`);
    }
  }
  for (const tier of TIERS) {
    if (chains[tier].length === 0) problems.push(`chains.${tier} is empty`);
    for (const entry of [...chains[tier], ...(chainsWithTools[tier] ?? [])]) {
      const { id } = readEntry(entry, (name) => ids.has(name));
      if (!ids.has(id)) problems.push(`chains.${tier} names the unknown model ${id}`);
    }
  }
  for (const [alias, id] of Object.entries(aliases)) {
    if (!ids.has(id)) problems.push(`aliases.${alias} names the unknown model ${id}`);
  }
  return problems;
}
