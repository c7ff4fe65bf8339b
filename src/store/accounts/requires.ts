// Requirements of keys and teams in their columns. Text that cannot be read is an error: it must not count as none.

import type { SqlValue } from "../../core/db.ts";
import type { Residency } from "../../core/requests/controls.ts";

export function requiresText(requires: Residency | null | undefined): string | null {
  return requires == null ? null : JSON.stringify(requires);
}

export function readRequires(value: SqlValue | undefined): Residency | null {
  return value == null ? null : (JSON.parse(String(value)) as Residency);
}
