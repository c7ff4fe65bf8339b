// Layers of the configuration: flags win over the environment, that over the file, that over defaults. A value that is
// outweighed is checked all the same, so that a mistake shows before the layer above it goes.

import { nearest } from "../catalog/nearest.ts";
import type { Environment, Variables } from "./environment.ts";
import { type Located, locatedFlag, locatedVariable, nodeAt } from "./located.ts";
import type { Option } from "./options/option.ts";
import { namedOptions, OPTIONS, type OptionValues, optionRows } from "./options/table.ts";
import { hidden } from "./readers.ts";
import type { Report } from "./report.ts";
import type { ShownOption } from "./settings.ts";

/** Flags by name without dashes; a flag without a value has the text "true". */
export type ConfigFlags = Readonly<Record<string, string | undefined>>;

/** The places that values come from, strongest first. */
export interface Layers {
  readonly flags: ConfigFlags;
  readonly environment: Environment;
  readonly file: Located | null;
  /** The parts of `file` that come from the run-time configuration. */
  readonly overlay?: Located | null;
  readonly report: Report;
}

/** The value of every option; what cannot be read is reported, and has its default. */
export function settleOptions(layers: Layers): OptionValues {
  const sections = Object.entries(OPTIONS).map(([section, rows]) => {
    const values = Object.entries(rows).map(([name, row]) => [name, settleOption(row as Option<unknown>, layers)]);
    return [section, Object.fromEntries(values)];
  });
  return Object.fromEntries(sections) as OptionValues;
}

/** Also alone: the option that names the file is needed before the file is read. */
export function settleOption<T>(option: Option<T>, layers: Layers): T {
  const read = option.isSecret ? hidden(option.read) : option.read;
  let value = option.default;
  for (const { node } of given(option, layers)) value = read(node, layers.report) ?? value;
  return value;
}

/** Every option with its value in words; secrets without. */
export function showOptions(layers: Omit<Layers, "report">): readonly ShownOption[] {
  return namedOptions().map(([name, row]) => showOption(name, row, layers));
}

function showOption(name: string, option: Option<unknown>, layers: Omit<Layers, "report">): ShownOption {
  const { path, env, flag, isSecret, isLive, help, shownDefault } = option;
  const strongest = given(option, layers).at(-1) ?? null;
  const text = strongest === null ? shownDefault : textOf(strongest.node);
  return {
    ...{ name, path, env, flag, isSecret, isLive, help },
    value: isSecret ? null : text,
    default: shownDefault,
    kind: kindOf(option),
    words: option.read.words ?? [],
    origin: strongest?.origin ?? "default",
    place: strongest?.node.place ?? null,
  };
}

function kindOf({ default: usual, read }: Option<unknown>): ShownOption["kind"] {
  if (read.words !== undefined) return "choice";
  if (typeof usual === "boolean") return "switch";
  if (typeof usual === "number") return "number";
  return Array.isArray(usual) ? "list" : "text";
}

/** A value as people wrote it. */
function textOf(node: Located): string {
  if (node.kind === "sequence") return node.items.map(textOf).join(", ");
  return node.kind === "scalar" ? String(node.value) : "";
}

/** An option as one layer gives it. */
interface GivenOption {
  readonly node: Located;
  readonly origin: Exclude<ShownOption["origin"], "default">;
}

/** The places where the option was given, weakest first. */
function given(
  option: Option<unknown>,
  { flags, environment, file, overlay = null }: Omit<Layers, "report">,
): readonly GivenOption[] {
  const path = option.path ?? "";
  const variable = option.env === null ? null : environment.read(option.env);
  const flag = option.flag === null ? undefined : flags[option.flag];
  const fromFile = writtenAt(file, option);
  const isOverlaid = fromFile !== null && option.path !== null && nodeAt(overlay, option.path) === fromFile;
  const layers: readonly (readonly [Located | null, GivenOption["origin"]])[] = [
    [fromFile, isOverlaid ? "version" : "file"],
    [variable === null ? null : locatedVariable(variable, path), "environment"],
    [flag === undefined || option.flag === null ? null : locatedFlag(option.flag, flag, path), "flag"],
  ];
  return layers.flatMap(([node, origin]) => (node === null ? [] : [{ node, origin }]));
}

function writtenAt(file: Located | null, { path, shortPath }: Option<unknown>): Located | null {
  if (path === null) return null;
  const short = shortPath === null ? null : nodeAt(file, shortPath);
  return short === null || short.kind === "mapping" ? nodeAt(file, path) : short;
}

/** Unknown flags, and secrets in flags: every user of a machine can see the arguments of a process. */
export function checkFlags(flags: ConfigFlags, report: Report): void {
  const known = optionRows().flatMap((row) => (row.flag === null ? [] : [row.flag]));
  for (const flag of Object.keys(flags)) {
    if (known.includes(flag) || flags[flag] === undefined) continue;
    const meant = nearest(flag, known);
    const suggestion = meant === null ? null : `--${meant}`;
    report.problems.push({ place: `flag --${flag}`, message: "unknown flag", suggestion });
  }
  for (const { flag, env } of optionRows().filter(({ isSecret }) => isSecret)) {
    if (flag === null || env === null || !hasPassword(flags[flag] ?? "")) continue;
    const message = `everybody on this machine can see the password in it; set ${env}, or name a file in ${env}_FILE`;
    report.warnings.push({ place: `flag --${flag}`, message, suggestion: null });
  }
}

/** Only an address can hold one that we would notice. */
function hasPassword(address: string): boolean {
  return URL.canParse(address) && new URL(address).password !== "";
}

/** The variable in which our guides keep a client's key, often in the same shell. */
const CLIENT_KEY = "SWITCHYARD_KEY";

/** Unknown variables are only a warning, because other programs may use our prefix. */
export function checkVariables(variables: Variables, report: Report): void {
  const known = optionRows().flatMap((row) => {
    if (row.env === null) return [];
    return row.isSecret ? [row.env, `${row.env}_FILE`] : [row.env];
  });
  for (const name of Object.keys(variables)) {
    if (!name.startsWith("SWITCHYARD_") || name === CLIENT_KEY || known.includes(name)) continue;
    const message = "unknown variable, ignored";
    report.warnings.push({ place: `environment ${name}`, message, suggestion: nearest(name, known) });
  }
}
