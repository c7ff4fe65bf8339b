// @ts-check
// The layers of src/, top to bottom: the one table behind the import rules of biome.json and docs/contribute/architecture.md.

/**
 * One folder of src/. `mayImport` names every other folder it may use; all others are refused by the linter.
 * A pure folder holds functions of their arguments only: no I/O, no clock, no randomness.
 * @typedef {{ folder: string, mayImport: readonly string[], isPure?: boolean }} LayerFolder
 */
/** @typedef {{ name: string, about: string, folders: readonly LayerFolder[] }} Layer */

/**
 * The rooms of http/, each with the rooms beside it that it may import, and the contexts where it may know them. Nothing
 * but http/server.ts knows all of them.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const HTTP_ROOMS = {
  exchange: [],
  openapi: [],
  overload: ["exchange"],
  sockets: ["context", "exchange"],
  v1: ["context", "exchange", "openapi", "overload"],
  "realtime-sessions": ["context", "exchange", "sockets", "v1"],
  api: ["context", "exchange", "openapi", "v1"],
  pages: ["api", "context", "exchange", "openapi", "v1"],
};
const HTTP_FILES = ["context", "ops", "server"];

const DATA = ["catalog", "config", "core"];
const BELOW_SERVICES = [...DATA, "formats", "routing"];
const SERVICES = ["accounts", "alerting", "billing", "providers", "store", "telemetry", "versions", "workers"];
const BELOW_GATEWAY = [...BELOW_SERVICES, ...SERVICES];
const BELOW_EDGE = [...BELOW_GATEWAY, "gateway"];
const BELOW_WIRING = [...BELOW_EDGE, "http"];

/** @type {readonly Layer[]} */
export const LAYERS = [
  {
    name: "process",
    about: "reads arguments, prints, chooses exit codes",
    folders: [{ folder: "cli", mayImport: [...BELOW_WIRING, "app", "demo"] }],
  },
  {
    name: "wiring",
    about: "constructs services and connects them; nothing else does",
    folders: [
      { folder: "app", mayImport: BELOW_WIRING },
      { folder: "demo", mayImport: BELOW_GATEWAY },
    ],
  },
  {
    name: "edge",
    about: "turns sockets into calls and responses into bytes, and rejects requests under overload",
    folders: [{ folder: "http", mayImport: BELOW_EDGE }],
  },
  {
    name: "request",
    about: "what happens to one request, step by step",
    folders: [{ folder: "gateway", mayImport: BELOW_GATEWAY }],
  },
  {
    name: "services",
    about: "do I/O, one kind each; they reach each other only through the ports in core",
    folders: SERVICES.map((folder) => ({
      folder,
      mayImport: BELOW_SERVICES,
    })),
  },
  {
    name: "pure",
    about: "functions of their arguments: no I/O, no clock, no randomness",
    folders: ["routing", "formats"].map((folder) => ({ folder, mayImport: ["catalog", "core"], isPure: true })),
  },
  {
    name: "data",
    about: "the models that exist, and the settings of the process",
    folders: [
      { folder: "config", mayImport: ["catalog", "core"] },
      { folder: "catalog", mayImport: ["core"] },
    ],
  },
  {
    name: "types",
    about: "shared types, tiers, money, errors and ports; imports nothing",
    folders: [{ folder: "core", mayImport: [], isPure: true }],
  },
];

/** Modules that do I/O, read the clock or draw random numbers; a pure folder may import none of them. */
const IMPURE_MODULES = [
  "node:fs",
  "node:fs/**",
  "node:http",
  "node:https",
  "node:net",
  "node:child_process",
  "node:crypto",
  "node:timers",
  "node:timers/**",
  "undici",
  "fastify",
  "pg",
];

/** Every folder with its layer, top to bottom. */
export const LAYER_FOLDERS = LAYERS.flatMap(({ name, folders }) =>
  folders.map((folder) => ({ layer: name, ...folder })),
);

/** The overrides of biome.json that refuse imports upwards: one for each folder. */
export function layerOverrides() {
  const overrides = LAYER_FOLDERS.map((row) => overrideOf(row.folder, patternsFor(row)));
  const http = LAYER_FOLDERS.find(({ folder }) => folder === "http");
  if (http === undefined) throw new Error("http/ has no row");
  // The last override of a file counts alone, so it repeats the rules of the whole folder.
  const rooms = Object.entries(HTTP_ROOMS).map(([room, mayImport]) =>
    overrideOf(`http/${room}`, [...patternsFor(http), besides(room, mayImport)]),
  );
  return [...overrides, ...rooms];
}

function overrideOf(/** @type {string} */ folder, /** @type {readonly object[]} */ patterns) {
  return {
    includes: [`src/${folder}/**`],
    linter: { rules: { style: { noRestrictedImports: { level: "error", options: { patterns } } } } },
  };
}

/** The rooms and files of http/ that one of its rooms may not import. */
function besides(/** @type {string} */ room, /** @type {readonly string[]} */ mayImport) {
  const refused = [...Object.keys(HTTP_ROOMS), ...HTTP_FILES].filter(
    (name) => name !== room && !mayImport.includes(name),
  );
  const allowed = mayImport.length === 0 ? "nothing of http/" : `of http/ only ${[...mayImport].sort().join(", ")}`;
  return {
    group: refused.flatMap((name) => (HTTP_FILES.includes(name) ? `**/${name}.ts` : `**/${name}/**`)),
    message: `http/${room}/ may import ${allowed} (scripts/layers.mjs)`,
  };
}

function patternsFor(/** @type {LayerFolder} */ { folder, mayImport, isPure = false }) {
  const refused = LAYER_FOLDERS.map((row) => row.folder).filter((name) => name !== folder && !mayImport.includes(name));
  const allowed = mayImport.length === 0 ? "nothing" : `only ${[...mayImport].sort().join(", ")}`;
  const upward = {
    group: [...refused.map((name) => `**/${name}/**`), "**/main.ts"],
    message: `${folder}/ may import ${allowed} (docs/contribute/architecture.md)`,
  };
  const impure = {
    group: IMPURE_MODULES,
    message: `${folder}/ is pure: it does no I/O (docs/contribute/architecture.md)`,
  };
  return isPure ? [upward, impure] : [upward];
}
