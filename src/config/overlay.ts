// The run-time configuration as a layer below the file: its values get places and go through the checks of the file.
// The file wins: a provider, a model, a tier and an option each as a whole.

import { TIERS_WITH_TOOLS } from "../catalog/chains.ts";
import { isJsonMap, type Json, type Overlay } from "../core/overlay.ts";
import { type Located, type MappingEntry, nodeAt } from "./located.ts";
import type { Report } from "./report.ts";

/** Deeper than any real document. */
const DEPTH_MAX = 32;
/** The path of the document itself. */
const WHOLE = "configuration";
/** Text below these keys of a provider never appears in a message. */
const SECRET_KEYS: ReadonlySet<string> = new Set(["apiKey", "apiKeys", "headers"]);

/** The sections with entries that a version may set. Options have sections of their own. */
export const ENTRY_SECTIONS = ["providers", "models", "tiers", TIERS_WITH_TOOLS] as const;

/** The document as located values; a place is a path such as `models.lab-small.price.input`. */
export function locateOverlay(overlay: Overlay, report: Report): Located {
  return locate(overlay, { path: "", place: "", depth: 0, isHidden: false }, report);
}

interface EntryPosition {
  /** Path in the file's checks, which name models by their number. */
  readonly path: string;
  /** Path for people, which names models by their id. */
  readonly place: string;
  readonly depth: number;
  readonly isHidden: boolean;
}

function locate(value: Json, position: EntryPosition, report: Report): Located {
  const { path, depth, isHidden } = position;
  const place = position.place === "" ? WHOLE : position.place;
  const spot = { path, place };
  if (depth > DEPTH_MAX) {
    report.problems.push({ place, message: "nested too deeply", suggestion: null });
    return { kind: "broken", ...spot };
  }
  if (value === null) return { kind: "empty", ...spot };
  if (isJsonMap(value)) {
    const entries = Object.entries(value).map(([key, each]): [string, MappingEntry] => {
      const at = below(position, key);
      return [key, { keyPlace: at.place, node: locate(each, at, report) }];
    });
    return { kind: "mapping", entries: new Map(entries), ...spot };
  }
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).map((each, index) => locate(each, item(position, index, each), report));
    return { kind: "sequence", items, ...spot };
  }
  return { kind: "scalar", value: value as string | number | boolean, isBareText: false, isHidden, ...spot };
}

function below({ path, place, depth, isHidden }: EntryPosition, key: string): EntryPosition {
  const step = (above: string): string => (above === "" ? key : `${above}.${key}`);
  return { path: step(path), place: step(place), depth: depth + 1, isHidden: isHidden || SECRET_KEYS.has(key) };
}

function item({ path, place, depth, isHidden }: EntryPosition, index: number, value: Json): EntryPosition {
  const id = path === "models" && isJsonMap(value) ? value.id : undefined;
  const at = typeof id === "string" ? `${place}.${id}` : `${place}[${index}]`;
  return { path: `${path}[${index}]`, place: at, depth: depth + 1, isHidden };
}

/** The file with what the overlay adds to it. */
export function overlaid(file: Located | null, overlay: Located | null): Located | null {
  if (overlay?.kind !== "mapping") return file;
  const entries = new Map(file?.kind === "mapping" ? file.entries : []);
  for (const [key, entry] of overlay.entries) {
    const known = entries.get(key);
    const node = known === undefined ? entry.node : mergedSection(known.node, entry.node);
    entries.set(key, { keyPlace: entry.keyPlace, node });
  }
  return { kind: "mapping", path: "", place: WHOLE, entries };
}

/** A section that cannot be merged goes on as the overlay has it, so that its checks say why. */
function mergedSection(file: Located, overlay: Located): Located {
  if (file.kind === "empty") return overlay;
  if (overlay.kind === "empty") return file;
  if (file.kind === "mapping" && overlay.kind === "mapping")
    return { ...file, entries: new Map([...overlay.entries, ...file.entries]) };
  if (file.kind !== "sequence" || overlay.kind !== "sequence") return overlay;
  const ids = new Set(file.items.map(idOf));
  return { ...file, items: [...file.items, ...overlay.items.filter((each) => !ids.has(idOf(each) ?? Symbol()))] };
}

function idOf(model: Located): unknown {
  const node = nodeAt(model, "id");
  return node?.kind === "scalar" ? node.value : undefined;
}
