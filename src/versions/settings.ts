// Options as a part of the run-time configuration: changes of them, their history, and the way back. Providers, models and
// chains stay as they are.

import { nearest } from "../catalog/nearest.ts";
import { livePaths } from "../config/options/table.ts";
import type { ShownOption } from "../config/settings.ts";
import { GatewayError } from "../core/errors.ts";
import { type ConfigVersion, type Json, type JsonMap, NO_OVERLAY, type Overlay } from "../core/overlay.ts";
import { type Change, changesBetween } from "./changes.ts";
import { drafted } from "./document.ts";
import type { Publication, Published, Versions } from "./versions.ts";

/** A version that changed options, and how. */
interface SettingsVersion {
  readonly version: ConfigVersion;
  readonly changes: readonly Change[];
}

interface SettingsPage {
  readonly data: readonly SettingsVersion[];
  /** Versions below this number were not looked at; null where there are none. */
  readonly next: number | null;
}

/** Versions read at once, and how many of these pages are read for one page of the history. */
const PAGE = 50;
const PAGES_MAX = 20;

/** Changes options by their paths. A text is read as a variable would be; null takes an option out. */
export function changeOfSettings(given: JsonMap, options: readonly ShownOption[]): (document: Overlay) => Overlay {
  const draft: Record<string, JsonMap> = {};
  for (const [path, value] of Object.entries(given)) {
    const option = liveOption(path, options);
    const [section = "", name = ""] = path.split(".");
    draft[section] = { ...draft[section], [name]: typeof value === "string" ? typed(value, option) : value };
  }
  return (document) => drafted(document, draft);
}

function liveOption(path: string, options: readonly ShownOption[]): ShownOption {
  const option = options.find((each) => each.path === path);
  const refuse = (message: string) =>
    new GatewayError("badRequest", message, { code: "invalid_value", param: `options.${path}` });
  if (option === undefined) {
    const meant = nearest(path, livePaths());
    throw refuse(`No option '${path}'.${meant === null ? "" : ` Did you mean '${meant}'?`}`);
  }
  if (option.isLive) return option;
  const variable = option.env === null ? "" : ` or as ${option.env}`;
  throw refuse(`'${path}' can't change at run time. Set it in the file${variable} and restart.`);
}

/** A text of another form stays as it is, so that the checks name it. */
function typed(text: string, { kind }: ShownOption): Json {
  const value = text.trim();
  if (kind === "switch") return SWITCHES[value.toLowerCase()] ?? value;
  if (kind === "number") return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  if (kind === "list") return value === "" ? [] : value.split(",").map((each) => each.trim());
  return value;
}

const SWITCHES: Readonly<Record<string, boolean>> = { true: true, on: true, false: false, off: false };

/** Publishes the options of an older version again. Everything else stays. */
export async function rollBackSettings(
  versions: Versions,
  number: number,
  by: Pick<Publication, "author" | "note" | "base">,
): Promise<Published> {
  const older = await versions.find(number);
  if (older === null) throw new GatewayError("notFound", `No version ${number}.`, { param: "number" });
  const { note = `Settings of version ${number}` } = by;
  const options = optionsIn(older.document);
  const change = (document: Overlay): Overlay => ({ ...without(document), ...options });
  return versions.publish({ ...by, note, isStored: true, change });
}

/** Newest first. A page may be shorter than asked for, although more follows. */
export async function settingsHistory(
  versions: Pick<Versions, "list">,
  { limit, before }: { readonly limit: number; readonly before: number },
): Promise<SettingsPage> {
  const data: SettingsVersion[] = [];
  let from = before;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    // One row more: each is compared with the one before it.
    const rows = await versions.list({ limit: PAGE + 1, before: from });
    for (const [index, version] of rows.slice(0, PAGE).entries()) {
      const older = rows[index + 1]?.document ?? NO_OVERLAY;
      const changes = changesBetween(optionsIn(older), optionsIn(version.document));
      if (changes.length === 0) continue;
      if (data.length === limit) return { data, next: (data.at(-1) as SettingsVersion).version.number };
      data.push({ version, changes });
    }
    if (rows.length <= PAGE) return { data, next: null };
    from = rows[PAGE - 1]?.number ?? 0;
  }
  return { data, next: from };
}

function isOfOptions(section: string): boolean {
  return livePaths().some((path) => path.startsWith(`${section}.`));
}

function optionsIn(document: Overlay): Overlay {
  return Object.fromEntries(Object.entries(document).filter(([section]) => isOfOptions(section)));
}

function without(document: Overlay): Overlay {
  return Object.fromEntries(Object.entries(document).filter(([section]) => !isOfOptions(section)));
}
