// The catalogue as one file that others can read: models with hosts, prices, limits and quirks, chains and aliases. It
// names no address and no sign-in of a provider, so that no file can send a key elsewhere.

import type { Tier } from "../../core/tiers.ts";
import type { Builtin } from "../builtin.ts";
import type { DialectChanges } from "../dialect.ts";
import type { ModelRow, PolicyRow, SearchRow } from "../rows.ts";

export interface CatalogueFile {
  readonly catalogue: "switchyard-catalogue";
  readonly format: 1;
  /** The day and a number, such as 2026-11-18.1. */
  readonly version: string;
  readonly date: string;
  readonly licence: "CC0-1.0";
  readonly about?: string;
  readonly models: readonly ModelRow[];
  /** Named dialects that rows of models refer to. */
  readonly dialects: Readonly<Record<string, DialectChanges>>;
  readonly policies: Readonly<Record<string, PolicyRow>>;
  /** Fees of searches that a provider runs itself. */
  readonly searchFees: Readonly<Record<string, SearchRow>>;
  /** The overall score that a model needs in a tier without tools. */
  readonly floors?: Readonly<Record<Tier, number>>;
  readonly chains: Readonly<Record<Tier, readonly string[]>>;
  readonly chainsWithTools?: Readonly<Partial<Record<Tier, readonly string[]>>>;
  readonly aliases: Readonly<Record<string, string>>;
  readonly signature?: Signature;
}

export interface Signature {
  readonly algorithm: "ed25519";
  /** The public key. */
  readonly key: string;
  readonly value: string;
}

const ABOUT =
  "Models, hosts and prices of the Switchyard gateway. Prices are in USD: per million tokens or characters, and for each minute, request, search and image. The data is in the public domain (CC0-1.0).";

/** The file of a catalogue, not signed. */
export function fileOf({ models, dialects, policies, searchFees, tiers, aliases }: Builtin): CatalogueFile {
  const { asOf, floors, chains, chainsWithTools } = tiers;
  return {
    catalogue: "switchyard-catalogue",
    format: 1,
    version: versionOf(tiers),
    date: asOf,
    licence: "CC0-1.0",
    about: ABOUT,
    models,
    dialects,
    policies,
    searchFees,
    ...(floors === undefined ? {} : { floors }),
    chains,
    ...(chainsWithTools === undefined ? {} : { chainsWithTools }),
    aliases,
  };
}

/** The catalogue with the data of a file. Providers stay as they ship. */
export function withFile({ providers }: Builtin, file: CatalogueFile): Builtin {
  const { version, date, models, dialects, policies, searchFees, aliases } = file;
  const { floors, chains, chainsWithTools } = file;
  const revision = Number(version.slice(version.indexOf(".") + 1));
  const tiers = {
    ...{ asOf: date, revision, chains },
    ...(floors === undefined ? {} : { floors }),
    ...(chainsWithTools === undefined ? {} : { chainsWithTools }),
  };
  return { models, providers, dialects, policies, searchFees, tiers, aliases };
}

export function versionOf({ asOf, revision }: Builtin["tiers"]): string {
  return `${asOf}.${revision}`;
}

/** Negative where the first version is older. */
export function compareVersions(a: string, b: string): number {
  const [[dayA = "", numberA = "0"], [dayB = "", numberB = "0"]] = [a.split("."), b.split(".")];
  return dayA === dayB ? Number(numberA) - Number(numberB) : dayA < dayB ? -1 : 1;
}

/** One model, dialect or chain per line, so that two versions can be compared line by line. */
export function writeFileText(file: CatalogueFile): string {
  const fields = Object.entries(file).map(([name, value]) => `  ${JSON.stringify(name)}: ${writeField(value)}`);
  return `{\n${fields.join(",\n")}\n}\n`;
}

function writeField(value: unknown): string {
  if (Array.isArray(value)) return `[\n${value.map((each) => `    ${JSON.stringify(each)}`).join(",\n")}\n  ]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([name, each]) => `    ${JSON.stringify(name)}: ${JSON.stringify(each)}`);
  return entries.length === 0 ? "{}" : `{\n${entries.join(",\n")}\n  }`;
}
