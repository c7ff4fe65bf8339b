// The providers a configuration switches on: entries under `providers:`, and built-in ones whose key variable is set.

import { createHash } from "node:crypto";
import { DEFAULT_TIMEOUTS, type ProviderSetup, SANDBOX_ID } from "../catalog/build.ts";
import type { Builtin } from "../catalog/builtin.ts";
import { mergeDialects } from "../catalog/dialect.ts";
import { nearest } from "../catalog/nearest.ts";
import { providerKind } from "../catalog/provider-kinds.ts";
import type { ProviderRow } from "../catalog/rows.ts";
import { PROVIDER_ID, type ProviderKey, type ProviderKind, type Timeouts } from "../core/model.ts";
import { dialectChanges, textMap } from "./dialects.ts";
import type { Environment, Variable } from "./environment.ts";
import { type Located, type MappingEntry, nodeAt } from "./located.ts";
import { MODEL_ID } from "./models.ts";
import { day } from "./prices.ts";
import { baseUrl, hidden, listOf, number, oneOf, regionList, reject, shape, text, truth } from "./readers.ts";
import type { Report } from "./report.ts";

const TIMEOUT_MAX_MS = 86_400_000;
const timeoutMs = number({ min: 1, max: TIMEOUT_MAX_MS, isWhole: true });

const SANDBOX = providerKind(SANDBOX_ID);

const WEIGHT_MAX = 1_000;
/** Characters that a header can carry, without spaces. A key copied from a document may hold a typographic hyphen. */
const KEY = /^[\x21-\x7e\x80-\xff]+$/;
const keyText = hidden(
  text({ test: (value) => KEY.test(value), expected: "a key of plain characters, without spaces" }),
);
const keyName = text({ test: (value) => /^[\w-]{1,32}$/.test(value), expected: "letters, digits, - and _" });
const keyEntry = shape({ key: keyText, weight: number({ min: 0, max: WEIGHT_MAX }), id: keyName, expires: day }, [
  "key",
]);

const entryReader = (kinds: readonly ProviderKind[]) =>
  shape({
    kind: oneOf(kinds.map(({ kind }) => kind)),
    baseUrl,
    apiVersion: text({ test: (value) => /^[\w.-]{1,40}$/.test(value), expected: "a version such as 2024-10-21" }),
    formats: listOf(oneOf(kinds.flatMap(({ format, furtherFormats = [] }) => [format, ...furtherFormats]))),
    deployments: textMap(MODEL_ID, "the id of a model"),
    apiKey: keyText,
    apiKeys: hidden(readKeys),
    headers: textMap(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "a header's name"),
    allowPrivateNetwork: truth,
    traceparent: truth,
    batches: truth,
    region: text({ test: (value) => /^[a-z0-9-]{2,40}$/.test(value), expected: "a region such as eu-central-1" }),
    signIn: textMap(/^\w{1,40}$/, "a field of the sign-in"),
    regions: regionList,
    zeroRetention: truth,
    timeouts: shape({ connectMs: timeoutMs, firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs }),
    dialect: dialectChanges,
  });

interface ProvidersInput {
  readonly file: Located | null;
  readonly builtin: Builtin;
  readonly environment: Environment;
  readonly kinds: readonly ProviderKind[];
  readonly report: Report;
}

export function readProviders(input: ProvidersInput): readonly ProviderSetup[] {
  const setups = new Map<string, ProviderSetup>();
  for (const row of input.builtin.providers) {
    const variable = input.environment.read(row.keyVariable);
    if (variable === null) continue;
    if (!KEY.test(variable.text)) reportUnsendable(variable, input.report);
    setups.set(row.id, builtinSetup(row, variable.text));
  }
  const section = nodeAt(input.file, "providers");
  if (section === null) return [...setups.values()];
  if (section.kind !== "mapping") reject(section, input.report, "a mapping of provider names");
  else for (const [id, entry] of section.entries) setups.set(id, readProvider(id, entry, input));
  return [...setups.values()];
}

function reportUnsendable({ place }: Variable, { problems }: Report): void {
  const message = "the key holds a space or a character that cannot be sent; copy it again";
  problems.push({ place, message, suggestion: null });
}

function builtinSetup(row: ProviderRow, apiKey: string): ProviderSetup {
  const { id, baseUrl, formats } = row;
  const kind = { ...providerKind(row.kind), ...(formats === undefined ? {} : { formats }) };
  const provider = { id, ...kind, baseUrl, apiKey, headers: {}, timeouts: DEFAULT_TIMEOUTS };
  return { provider: { ...provider, allowsPrivate: false }, dialect: row.dialect };
}

/**
 * Keys alone or with a weight. One whose variable is set to nothing is left out, so that keys can be optional, and so is
 * one whose weight is 0.
 */
function readKeys(node: Located, report: Report): readonly ProviderKey[] | undefined {
  if (node.kind !== "sequence") return reject(node, report, "a list of keys");
  const keys: ProviderKey[] = [];
  const isOff = ({ weight }: ProviderKey): boolean => weight === 0;
  for (const item of node.items.filter(({ kind }) => kind !== "empty")) {
    const {
      key,
      weight = 1,
      id: name = "",
      expires,
    } = (item.kind === "mapping" ? keyEntry(item, report) : { key: keyText(item, report) }) ?? {};
    if (key === undefined) continue;
    const id = name || keyId(key);
    const same = keys.find((other) => other.key === key || other.id === id);
    const end = expires === undefined ? {} : { endsAtMs: Date.parse(`${expires}T00:00:00Z`) };
    if (same === undefined) keys.push({ id, key, weight, ...end });
    else {
      const message = same.key === key ? "the same key is listed twice" : `two keys have the id '${id}'`;
      report.problems.push({ place: item.place, message, suggestion: null });
    }
  }
  if (keys.length > 0 && keys.every(isOff)) return reject(node, report, "a key with a weight above 0");
  return keys.filter((key) => !isOff(key));
}

/** The same in every process, and tells nothing of the key. */
function keyId(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 8);
}

/** A broken entry still gives a provider, so that models that name it are not reported as well. */
function readProvider(id: string, entry: MappingEntry, input: ProvidersInput): ProviderSetup {
  const emptyEntry: Located = { ...entry.node, kind: "mapping", entries: new Map() };
  const fields = entryReader(input.kinds)(entry.node.kind === "empty" ? emptyEntry : entry.node, input.report) ?? {};
  const row = builtinRow(id, fields, input.builtin);
  const named = fields.kind ?? row?.kind ?? (id === SANDBOX_ID ? SANDBOX_ID : undefined);
  const kind = input.kinds.find((candidate) => candidate.kind === named);
  const sameKindRow = kind?.kind === row?.kind ? row : undefined;
  const region = fields.region ?? regionOf(kind, input.environment);
  const address = fields.baseUrl ?? sameKindRow?.baseUrl ?? usualUrlOf(kind, region, fields.signIn);
  const vendorRow = address === sameKindRow?.baseUrl ? sameKindRow : undefined;
  const [first, ...further] = fields.apiKeys ?? [];
  const apiKey = first?.key ?? chooseKey(vendorRow, fields.apiKey, input.environment);
  reportKeys({ fields, entry, vendorRow, input });
  reportMissing({ id, entry, kind, address, apiKey, vendorRow, input });
  const formats = fields.formats ?? vendorRow?.formats;
  reportFormats({ formats: fields.formats, entry, kind, input });
  reportAzureFields({ fields, entry, kind, input });
  reportCloudFields({ fields, entry, kind, input });
  const isKeyless = kind?.transport === "network" && apiKey === null && fields.headers === undefined;
  if (isKeyless && row !== undefined) warnOfUnsentKey(row, entry, input);
  const provider = {
    id,
    ...(kind ?? SANDBOX),
    baseUrl: kind?.transport === "sandbox" ? "" : (address ?? ""),
    ...(fields.apiVersion === undefined ? {} : { apiVersion: fields.apiVersion }),
    // Another server at the same kind of address may know the usual format alone.
    ...(formats === undefined ? {} : { formats }),
    apiKey,
    ...(first === undefined || further.length === 0 ? {} : { apiKeys: [first, ...further] }),
    ...(first?.endsAtMs === undefined || further.length > 0 ? {} : { keyEndsAtMs: first.endsAtMs }),
    headers: fields.headers ?? {},
    timeouts: timeoutsOf(fields.timeouts ?? {}),
    // An address from the operator may be one of their own network: local models are an everyday case.
    allowsPrivate: fields.allowPrivateNetwork ?? vendorRow === undefined,
    takesTraceparent: fields.traceparent ?? false,
    ...((fields.batches ?? vendorRow?.hasBatches === true) ? { hasBatches: true } : {}),
    ...(region === undefined ? {} : { region }),
    ...(fields.signIn === undefined ? {} : { signIn: fields.signIn }),
    ...(fields.regions === undefined ? {} : { regions: fields.regions }),
    ...(fields.zeroRetention === undefined ? {} : { zeroRetention: fields.zeroRetention }),
  };
  const dialect = mergeDialects(kind?.dialect, sameKindRow?.dialect, fields.dialect);
  return { provider, dialect, ...(fields.deployments === undefined ? {} : { deployments: fields.deployments }) };
}

/** The vendor's row at the address that an entry writes, else of its kind, else as it ships. */
function builtinRow(
  id: string,
  { kind, baseUrl: address }: { readonly kind?: string; readonly baseUrl?: string },
  { providers }: Builtin,
): ProviderRow | undefined {
  const row = providers.find((candidate) => candidate.id === id);
  if (row?.otherAddresses === undefined) return row;
  const rows = [row, ...row.otherAddresses.map((other) => ({ ...row, ...other }))];
  return rows.find(({ baseUrl: own }) => own === address) ?? rows.find((candidate) => candidate.kind === kind) ?? row;
}

/** The environment outweighs the file, but a vendor's key is never sent to an address that is not the vendor's. */
function chooseKey(vendorRow: ProviderRow | undefined, fileKey: string | undefined, environment: Environment) {
  const variable = vendorRow === undefined ? null : environment.read(vendorRow.keyVariable);
  return variable?.text ?? fileKey ?? null;
}

interface WrittenKeys extends Pick<Completeness, "entry" | "vendorRow" | "input"> {
  readonly fields: { readonly apiKey?: string; readonly apiKeys?: readonly ProviderKey[] };
}

/** A variable holds one key, so a list in the file is not outweighed by it. */
function reportKeys({ fields, entry: { keyPlace: place }, vendorRow, input }: WrittenKeys): void {
  const { report, environment } = input;
  if (fields.apiKeys === undefined || fields.apiKeys.length === 0) return;
  if (fields.apiKey !== undefined) {
    report.problems.push({ place, message: "write apiKey or apiKeys, not both", suggestion: null });
  }
  const variable = vendorRow === undefined ? null : environment.read(vendorRow.keyVariable);
  if (variable === null || fields.apiKeys.some(({ key }) => key === variable.text)) return;
  const message = `${vendorRow?.keyVariable} is not used, because apiKeys lists the keys`;
  report.warnings.push({ place, message, suggestion: null });
}

/** A variable that is set and not used looks like a wrong key: the server at that address answers 401. */
function warnOfUnsentKey({ keyVariable }: ProviderRow, { keyPlace: place }: MappingEntry, input: ProvidersInput): void {
  if (input.environment.read(keyVariable) === null) return;
  const message = `${keyVariable} is not sent to this address, because it is not the vendor's own; to send it there, write apiKey: \${${keyVariable}}`;
  input.report.warnings.push({ place, message, suggestion: null });
}

interface Completeness {
  readonly id: string;
  readonly entry: MappingEntry;
  readonly kind: ProviderKind | undefined;
  readonly address: string | undefined;
  readonly apiKey: string | null;
  readonly vendorRow: ProviderRow | undefined;
  readonly input: ProvidersInput;
}

function reportMissing({ id, entry, kind, address, apiKey, vendorRow, input }: Completeness): void {
  const complain = (message: string, suggestion: string | null = null) =>
    input.report.problems.push({ place: entry.keyPlace, message, suggestion });
  const isWritten = (key: string): boolean => nodeAt(entry.node, key) !== null;
  if (!PROVIDER_ID.test(id)) complain(`a provider's name is made of letters, digits, - and _, got "${id}"`);
  if (entry.node.kind !== "mapping" && entry.node.kind !== "empty") return;
  if (kind === undefined && !isWritten("kind")) {
    const names = input.builtin.providers.map((row) => row.id);
    const message = `"${id}" is not a built-in provider, so it needs a kind (${input.kinds.map((row) => row.kind).join(", ")})`;
    complain(message, nearest(id, names));
  }
  if (kind?.transport === "network" && address === undefined && !isWritten("baseUrl"))
    complain(`${id} needs a ${missingAddress(kind)}`);
  if (vendorRow !== undefined && apiKey === null && !isWritten("apiKey") && !isWritten("apiKeys")) {
    complain(`${id} has no key: set ${vendorRow.keyVariable} or providers.${id}.apiKey`);
  }
}

interface WrittenFormats extends Pick<Completeness, "entry" | "kind" | "input"> {
  readonly formats: readonly string[] | undefined;
}

function reportFormats({ formats, entry, kind, input }: WrittenFormats): void {
  if (formats === undefined || kind === undefined) return;
  const { format, furtherFormats = [] } = kind;
  const spoken = [format, ...furtherFormats];
  if (formats.length > 0 && formats.every((name) => spoken.includes(name))) return;
  const message = `formats must be a list of what providers of kind ${kind.kind} speak: ${spoken.join(", ")}`;
  input.report.problems.push({ place: entry.keyPlace, message, suggestion: null });
}

interface AzureFields extends Pick<Completeness, "entry" | "kind" | "input"> {
  readonly fields: { readonly apiVersion?: string; readonly deployments?: object };
}

function reportAzureFields({ fields, entry, kind, input }: AzureFields): void {
  if (kind === undefined) return;
  const isTaken = { apiVersion: kind.addressing === "azure", deployments: kind.hasDeployments === true };
  for (const name of ["apiVersion", "deployments"] as const) {
    if (fields[name] === undefined || isTaken[name]) continue;
    const message = `${name} is for providers of kind azure, and this one is of kind ${kind.kind}`;
    input.report.problems.push({ place: entry.keyPlace, message, suggestion: null });
  }
}

/** AWS's own tools read the same variables. */
const REGION_VARIABLES = ["AWS_REGION", "AWS_DEFAULT_REGION"];

function regionOf(kind: ProviderKind | undefined, environment: Environment): string | undefined {
  if (kind?.auth.scheme !== "aws") return undefined;
  return REGION_VARIABLES.map((name) => environment.read(name)?.text).find((found) => found !== undefined);
}

function usualUrlOf(
  kind: ProviderKind | undefined,
  region: string | undefined,
  { project }: Readonly<Record<string, string>> = {},
): string | undefined {
  if (kind?.usualUrl?.includes("{region}") !== true) return kind?.usualUrl;
  if (region === undefined) return undefined;
  const host = VERTEX_HOSTS[region] ?? `${region}-${VERTEX_HOSTS.global}`;
  const named = kind.usualUrl.replace("{region}", region).replace("{host}", host);
  return project === undefined && named.includes("{project}") ? undefined : named.replace("{project}", project ?? "");
}

/** Google's addresses that are not those of one region. Read 2026-11-19: docs.cloud.google.com, "Claude models". */
const VERTEX_HOSTS: Readonly<Record<string, string>> = {
  global: "aiplatform.googleapis.com",
  us: "aiplatform.us.rep.googleapis.com",
  eu: "aiplatform.eu.rep.googleapis.com",
};

function missingAddress({ usualUrl, signInFields = [] }: ProviderKind): string {
  if (usualUrl === undefined) return "baseUrl";
  return signInFields.includes("project") ? "region and signIn.project" : "region";
}

interface CloudFields extends Pick<Completeness, "entry" | "kind" | "input"> {
  readonly fields: { readonly region?: string; readonly signIn?: Readonly<Record<string, string>> };
}

function reportCloudFields({ fields, entry, kind, input }: CloudFields): void {
  const known = kind?.signInFields ?? [];
  const complain = (message: string, suggestion: string | null = null): void => {
    input.report.problems.push({ place: entry.keyPlace, message, suggestion });
  };
  for (const name of Object.keys(fields.signIn ?? {})) {
    if (known.includes(name)) continue;
    complain(`signIn has no field ${name} for providers of kind ${kind?.kind ?? "?"}`, nearest(name, known));
  }
  if (fields.region !== undefined && kind?.usualUrl?.includes("{region}") !== true) {
    complain(`region is for providers of a cloud, and this one is of kind ${kind?.kind ?? "?"}`);
  }
}

function timeoutsOf(written: Partial<Timeouts>): Timeouts {
  return { ...DEFAULT_TIMEOUTS, ...written, isFirstByteConfigured: written.firstByteMs !== undefined };
}
