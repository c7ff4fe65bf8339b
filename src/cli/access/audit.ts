// `switchyard audit list | export`: who did what to what, newest first. It reads the store, with or without a server.

import { writeEntry } from "../../http/api/audit/routes.ts";
import type { ChainedEntry } from "../../store/audit/entry.ts";
import { type AuditLog, type AuditSearch, createAuditLog } from "../../store/audit/log.ts";
import type { Arguments } from "../command/arguments.ts";
import { type Parsed, parseSubcommand, printJson, runCommand } from "../command/command.ts";
import { isOn, splitFlags, textOf } from "../command/flags.ts";
import { withStore } from "../command/store.ts";
import { formatTable } from "../command/table.ts";
import { type Terminal, thisTerminal } from "../command/terminal.ts";

interface AuditOptions {
  readonly kind: "list" | "export";
  readonly search: Pick<AuditSearch, "actor" | "action" | "object">;
  readonly isJson: boolean;
}

/** The newest entries; `export` has all of them. */
const LISTED = 50;
const PAGE = 500;

export function audit(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "audit", terminal, callsNobody: true, parse: () => parseAudit(args) },
    run: ({ kind, search, isJson }, { database }) =>
      withStore(database, ({ db }) => {
        const log = createAuditLog(db);
        const wanted = { ...search, accountId: null, fromMs: null, toMs: null };
        return kind === "list" ? list(log, { wanted, isJson }, terminal) : exportAll(log, wanted, terminal);
      }),
  });
}

function parseAudit({ words, flags }: Arguments): Parsed<AuditOptions> {
  const [kind] = parseSubcommand(words, "audit", { list: 0, export: 0 });
  const { own, config } = splitFlags(flags, ["actor", "action", "object", "json", "no-color"]);
  const search = { actor: textOf(own, "actor"), action: textOf(own, "action"), object: textOf(own, "object") };
  return { options: { kind, search, isJson: isOn(own, "json") }, config };
}

type AuditTerms = Omit<AuditSearch, "before" | "limit">;

async function list(
  log: AuditLog,
  { wanted, isJson }: { readonly wanted: AuditTerms; readonly isJson: boolean },
  terminal: Terminal,
): Promise<number> {
  const found = await log.list({ ...wanted, before: null, limit: LISTED });
  if (isJson) printJson({ data: found.map(writeEntry) }, terminal);
  else if (found.length > 0) terminal.out(formatTable([HEADINGS, ...found.map(rowOf)]));
  else terminal.say("No entries.\n");
  return 0;
}

const HEADINGS = ["TIME", "WHO", "ACTION", "OBJECT", "OUTCOME", "ADDRESS"];

function rowOf({ atMs, actor, action, object, outcome, address }: ChainedEntry): readonly string[] {
  const time = `${new Date(atMs).toISOString().slice(0, 19)}Z`.replace("T", " ");
  return [time, actor.name || actor.kind, action, object, outcome, address ?? "-"];
}

/** One JSON object a line. */
async function exportAll(log: AuditLog, wanted: AuditTerms, terminal: Terminal): Promise<number> {
  for (let before: number | null = null; ; ) {
    const found: readonly ChainedEntry[] = await log.list({ ...wanted, before, limit: PAGE });
    for (const entry of found) terminal.out(`${JSON.stringify(writeEntry(entry))}\n`);
    if (found.length < PAGE) return 0;
    before = found.at(-1)?.sequence ?? null;
  }
}
