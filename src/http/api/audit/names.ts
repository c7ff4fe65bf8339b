// Names of what entries are about, as they are now. The entries themselves keep ids, which never change.

import { isJsonMap } from "../../../core/overlay.ts";
import type { AuditEntry } from "../../../store/audit/entry.ts";
import type { OperatorContext } from "../../context.ts";

type NamedEntry = Pick<AuditEntry, "object" | "accountId" | "before" | "after">;
type NamesContext = Pick<OperatorContext, "keys" | "teams" | "profiles" | "budgets" | "accounts" | "users">;

/** Finds the name; null where the object has none. What is gone has the last one that the entry knows. */
export async function objectName(entry: NamedEntry, edge: NamesContext): Promise<string | null> {
  const [section = "", id = ""] = entry.object.split("/");
  if (id === "") return null;
  return (await currentName(section, { id, accountId: entry.accountId }, edge)) ?? writtenName(entry);
}

interface HeldObject {
  readonly id: string;
  readonly accountId: string | null;
}

async function currentName(section: string, { id, accountId }: HeldObject, edge: NamesContext): Promise<string | null> {
  if (section === "accounts") return (await edge.accounts.get(id))?.name ?? null;
  if (section === "users" && accountId === null) return (await edge.users.byId(id))?.email ?? null;
  if (accountId === null) return null;
  switch (section) {
    case "keys":
      return edge.keys.nameOf(accountId, id);
    case "teams":
      return edge.teams.nameOf(accountId, id);
    case "profiles":
      return edge.profiles.nameOf(accountId, id);
    case "budgets":
      return edge.budgets.of(accountId).find((budget) => budget.id === id)?.name ?? null;
    case "users":
      return (await edge.users.emailsOf(accountId, [id])).get(id) ?? null;
    default:
      return null;
  }
}

function writtenName({ before, after }: NamedEntry): string | null {
  for (const fields of [after, before]) {
    if (!isJsonMap(fields)) continue;
    const name = fields.name ?? fields.email;
    if (typeof name === "string" && name !== "") return name;
  }
  return null;
}
