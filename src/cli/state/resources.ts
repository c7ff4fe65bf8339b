// The kinds of things that `switchyard apply` keeps as a file says, each known by its name: where they are, which fields
// count, and how one is made, changed and removed.

import type { JsonMap } from "../../core/overlay.ts";
import { PROFILE_CONTROLS, takesInProfile } from "../../core/requests/controls.ts";

export interface ResourceKind {
  readonly section: "profiles" | "teams" | "keys" | "budgets";
  readonly noun: string;
  readonly path: string;
  /** The query of its list. */
  readonly query: string;
  /** Fields that name another thing by its name, with its section. */
  readonly references: Readonly<Record<string, ResourceKind["section"]>>;
  /** Fields that the file may leave out and that are then set so; null where those that are left out stay. */
  readonly unset: JsonMap | null;
}

const PROFILE_UNSET = Object.fromEntries([
  ["description", null],
  ...PROFILE_CONTROLS.map((row) => [row.rule, takesInProfile(row).unset] as const),
]) as JsonMap;

/** In the order in which one may refer to another. */
export const RESOURCE_KINDS: readonly ResourceKind[] = [
  { section: "profiles", noun: "profile", path: "/api/profiles", query: "", references: {}, unset: PROFILE_UNSET },
  {
    ...{ section: "teams", noun: "team", path: "/api/teams", query: "", unset: null },
    references: { profile: "profiles", parent: "teams" },
  },
  {
    ...{ section: "keys", noun: "key", path: "/api/keys", query: "status=active", unset: null },
    references: { profile: "profiles", team: "teams" },
  },
  {
    ...{ section: "budgets", noun: "budget", path: "/api/budgets", query: "", references: {} },
    unset: { value: null, rolling: false, timeZone: "UTC", hard: true },
  },
];

/** Returns PUT where the whole is replaced, and PATCH where some fields are. */
export function changeMethod({ unset }: ResourceKind): "PUT" | "PATCH" {
  return unset === null ? "PATCH" : "PUT";
}

/** Finds the references of a thing; those of a budget depend on its scope. */
export function referencesIn(kind: ResourceKind, fields: JsonMap): ResourceKind["references"] {
  if (kind.section !== "budgets") return kind.references;
  if (fields.scope === "team") return { value: "teams" };
  return fields.scope === "key" ? { value: "keys" } : {};
}
