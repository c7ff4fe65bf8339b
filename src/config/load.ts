// Loading the configuration: defaults, file, environment, flags. It reads files and nothing else of the world.
// Everything that is wrong is found in one go.

import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { type Builtin, readBuiltin } from "../catalog/builtin.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { TIERS_WITH_TOOLS } from "../catalog/chains.ts";
import { PROVIDER_KINDS } from "../catalog/provider-kinds.ts";
import { sqlitePathOf } from "../core/db.ts";
import type { ProviderKind } from "../core/model.ts";
import { parseLocated } from "./document.ts";
import { type Base, createConfiguration, settle } from "./effective.ts";
import { type Environment, openEnvironment, type Variables } from "./environment.ts";
import { type ConfigFlags, checkFlags, checkVariables, settleOption, showOptions } from "./layers.ts";
import { type Located, nodeAt } from "./located.ts";
import { checkMailServer } from "./options/alerts.ts";
import { checkWebhooks } from "./options/cascade.ts";
import { readIdentityProviders } from "./options/identity-providers.ts";
import { checkSearch } from "./options/search.ts";
import { LAME_DUCK_SECONDS } from "./options/server.ts";
import { OPTIONS, type OptionValues, optionRows } from "./options/table.ts";
import { exportsOf, forgiveUnused } from "./options/telemetry.ts";
import { checkKeys, reject } from "./readers.ts";
import { emptyReport, type Report } from "./report.ts";
import type { FileText, Loaded, Settings } from "./settings.ts";

const DEFAULT_FILE = "switchyard.yaml";

/** Sources of a configuration. */
export interface ConfigInput {
  readonly flags: ConfigFlags;
  readonly env: Variables;
  /** Relative paths start here. */
  readonly cwd: string;
  /** The file as another process has read it, or null where it found none. Left out, it is read. */
  readonly file?: FileText | null;
  /** Says that no provider will be called: keys and addresses of the file may then be unset variables. */
  readonly callsNobody?: boolean;
  /** The kinds of providers a file may name; those that ship where left out. */
  readonly kinds?: readonly ProviderKind[];
  /** For tests: the kinds of providers that can be called. */
  readonly supportedKinds?: ReadonlySet<string>;
}

/** Settings, or every problem at once. */
export function load(input: ConfigInput): Loaded {
  const { flags, env, cwd, callsNobody, kinds = PROVIDER_KINDS, supportedKinds = namesOf(kinds) } = input;
  const report = emptyReport();
  const builtin = readBuiltin();
  const secretNames = secretVariables(builtin);
  const environment = openEnvironment({ variables: env, cwd, secretNames, report });
  checkFlags(flags, report);
  checkVariables(env, report);
  const source = openFile({ flags, environment, cwd, report, callsNobody, given: input.file });
  const file = source.root;
  checkSections(file, report);
  const base: Base = { flags, environment, file, source, builtin, kinds, supportedKinds };
  const { values, catalog } = settle(base, file, report);
  forgiveUnused(values.telemetry, report);
  const identityProviders = readIdentityProviders(file, values, report);
  checkWebhooks(values.cascade, report);
  checkSearch(values.search, report);
  checkMailServer(values.alerts, report);
  if (report.problems.length > 0 || catalog === null) return { ok: false, problems: report.problems };
  const options = showOptions({ flags, environment, file });
  const configuration = createConfiguration(base, catalog, report.warnings);
  const settings = { ...settingsOf(values, catalog, cwd), identityProviders, options, configuration };
  const { warnings } = report;
  return { ok: true, settings, sources: sourcesOf(source, environment, flags), file: source.file, warnings };
}

function namesOf(kinds: readonly ProviderKind[]): ReadonlySet<string> {
  return new Set(kinds.map(({ kind }) => kind));
}

/** The names of all variables that hold secrets: those of the table and the vendors' keys. */
function secretVariables(builtin: Builtin): ReadonlySet<string> {
  const fromTable = optionRows().flatMap((row) => (row.isSecret && row.env !== null ? [row.env] : []));
  return new Set([...fromTable, ...builtin.providers.map((row) => row.keyVariable)]);
}

interface FileInput {
  readonly flags: ConfigFlags;
  readonly environment: Environment;
  readonly cwd: string;
  readonly report: Report;
  readonly callsNobody: boolean | undefined;
  readonly given: ConfigInput["file"];
}

/** The configuration file, read and parsed. */
interface SourceFile {
  /** The configuration file; null when there is none. */
  readonly path: string | null;
  readonly name: string;
  readonly day: string;
  readonly root: Located | null;
  readonly file: FileText | null;
}

/** A file that is named must exist; the default one may be missing. */
function openFile({ flags, environment, cwd, report, callsNobody, given }: FileInput): SourceFile {
  const named = settleOption(OPTIONS.file.config, { flags, environment, file: null, report });
  const name = named ?? DEFAULT_FILE;
  const path = resolve(cwd, name);
  const none: SourceFile = { path: null, name, day: "", root: null, file: null };
  if (given === null) return none;
  try {
    const file = given ?? readText(path);
    const { text, day } = file;
    return { path, name, day, root: parseLocated({ text, name, environment, report, callsNobody }), file };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unreadable";
    if (named === null && code === "ENOENT") return none;
    const place = flags.config === undefined ? `environment ${OPTIONS.file.config.env}` : "flag --config";
    const message = `the configuration file ${name} cannot be read (${code})`;
    report.problems.push({ place: named === null ? name : place, message, suggestion: null });
    return none;
  }
}

function readText(path: string): FileText {
  const text = readFileSync(path, "utf8");
  return { text, day: statSync(path).mtime.toISOString().slice(0, 10) };
}

/** Keys at the top, and inside the sections that hold options; other sections check their own. */
function checkSections(file: Located | null, report: Report): void {
  if (file === null) return;
  const paths = optionRows().flatMap((row) => (row.path === null ? [] : [row.path.split(".")]));
  const entries = ["providers", "models", "tiers", TIERS_WITH_TOOLS, "identityProviders"];
  checkKeys(file, [...new Set([...paths.map(([head]) => head as string), ...entries])], report);
  const sections = new Set(paths.filter((steps) => steps.length > 1).map(([head]) => head as string));
  for (const section of sections) {
    const node = nodeAt(file, section);
    if (node === null || (node.kind !== "mapping" && isShort(section))) continue;
    if (node.kind !== "mapping") reject(node, report, "a mapping");
    const known = paths.filter(([head, key]) => head === section && key !== undefined).map(([, key]) => key as string);
    checkKeys(node, known, report);
  }
}

function isShort(section: string): boolean {
  return optionRows().some(({ shortPath }) => shortPath === section);
}

/** Parts of the settings that are not made of options. */
type SettledApart = "options" | "configuration" | "identityProviders";

/** Whole sections go over as they are; only what depends on something else is worked out here. */
function settingsOf(values: OptionValues, catalog: Catalog, cwd: string): Omit<Settings, SettledApart> {
  const {
    server,
    store,
    routing,
    billing,
    limits,
    health,
    logging,
    errors,
    responses,
    files,
    prices,
    cascade,
    search,
    alerts,
    telemetry,
  } = values;
  const dataDir = resolve(cwd, store.data);
  const database =
    store.database === null ? `sqlite:${resolve(dataDir, "switchyard.db")}` : absoluteDatabase(store.database, cwd);
  const isSqlite = sqlitePathOf(database) !== null;
  const lameDuckSeconds = server.lameDuckSeconds ?? (isSqlite ? 0 : LAME_DUCK_SECONDS);
  const workers = server.workers ?? (isSqlite ? "auto" : 1);
  return {
    server: { ...server, lameDuckSeconds, workers },
    ...{ database, dataDir, redis: store.redis, secret: store.secret },
    ...{ routing, billing, limits, health, logging, errors, responses, files, prices, cascade, search, alerts },
    ...exportsOf(telemetry),
    catalog,
  };
}

/** A relative path counts from the working folder at the start, wherever the process goes later. */
function absoluteDatabase(database: string, cwd: string): string {
  const path = /^sqlite:(.+)$/.exec(database)?.[1];
  if (path === undefined || path === ":memory:") return database;
  return `sqlite:${resolve(cwd, path)}`;
}

/** In words, for the doctor: where anything was given at all. */
function sourcesOf(source: SourceFile, environment: Environment, flags: ConfigFlags): readonly string[] {
  const sources = ["defaults"];
  if (source.path !== null) sources.push(source.name);
  if (environment.used().length > 0) sources.push(`environment (${environment.used().join(", ")})`);
  const given = Object.keys(flags).filter((flag) => flags[flag] !== undefined);
  if (given.length > 0) sources.push(`flags (${given.map((flag) => `--${flag}`).join(", ")})`);
  return sources;
}
