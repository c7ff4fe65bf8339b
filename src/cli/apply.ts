// `switchyard versions apply`: changes of the run-time configuration from a file, published or replayed over past requests.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";
import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Settings } from "../config/settings.ts";
import type { Db } from "../core/db.ts";
import { isJsonMap, type Json, type Overlay } from "../core/overlay.ts";
import { replayDraft } from "../http/api/replay.ts";
import { createProfileStore } from "../store/accounts/profiles.ts";
import { withLog } from "../store/db.ts";
import { createDecisionLog } from "../store/requests/requests.ts";
import { drafted, isTooDeep } from "../versions/document.ts";
import type { Versions } from "../versions/versions.ts";
import { COMMAND_LINE, printJson } from "./command/command.ts";
import type { Terminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";
import { reasonOf, UsageError } from "./command/usage.ts";
import { printPublished, withVersions } from "./command/versions.ts";

interface FileChanges {
  readonly path: string;
  readonly replays: boolean;
  readonly note: string | null;
  readonly isJson: boolean;
}

/** The most requests that the dashboard may ask for. */
const REPLAYED_MAX = 500;

/** The file has the keys of switchyard.yaml; null takes something out. */
export async function applyChanges(wanted: FileChanges, settings: Settings, terminal: Terminal): Promise<number> {
  const { replays, note, isJson } = wanted;
  const draft = await read(wanted.path, terminal);
  const change = (document: Overlay): Overlay => drafted(document, draft);
  return withVersions(settings, async (versions, catalog, db) => {
    if (replays)
      printReplay(
        await replayed(change, { versions, inUse: catalog(), db, database: settings.database }),
        isJson,
        terminal,
      );
    else {
      const by = { author: COMMAND_LINE, ...(note === null ? {} : { note }) };
      printPublished(await versions.publish({ ...by, change }), isJson, terminal);
    }
    return 0;
  });
}

async function read(path: string, terminal: Terminal): Promise<Overlay> {
  const text = path === "-" ? await terminal.readInput() : readText(resolve(terminal.cwd, path));
  const parsed = parsedYaml(text);
  if (!isJsonMap(parsed) || isTooDeep(parsed)) {
    throw new UsageError(TEXT.wrongChanges);
  }
  return parsed;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(TEXT.changesUnreadable(reasonOf(error)));
  }
}

function parsedYaml(text: string): Json {
  try {
    return parse(text) as Json;
  } catch (error) {
    throw new UsageError(TEXT.changesNotYaml(reasonOf(error)));
  }
}

interface ReplayTerms {
  readonly versions: Versions;
  readonly inUse: Catalog;
  readonly db: Db;
  readonly database: string;
}

type ReplayResult = Awaited<ReturnType<typeof replayDraft>>;

/** No provider is called, and nothing is stored. */
async function replayed(
  change: (document: Overlay) => Overlay,
  { versions, inUse, db, database }: ReplayTerms,
): Promise<ReplayResult> {
  const { catalog } = await versions.draft(change, COMMAND_LINE);
  const profiles = new Map((await createProfileStore(db).all()).map((profile) => [profile.id, profile]));
  const past = await withLog(database, db, (log) => createDecisionLog(log).recent(DEFAULT_ACCOUNT, REPLAYED_MAX));
  return replayDraft(past, { catalog, inUse, profileOf: async (id) => profiles.get(id) ?? null });
}

function printReplay(result: ReplayResult, isJson: boolean, terminal: Terminal): void {
  const { requests, changed, up, down, refused, costBeforeUsd, costAfterUsd } = result;
  const words =
    `Last ${requests} ${requests === 1 ? "request" : "requests"}: ${changed} would change (${up} to a higher tier, ${down} to a lower one, ${refused} refused).\n` +
    TEXT.replayedCost(costBeforeUsd, costAfterUsd);
  if (isJson) printJson(result, terminal);
  else terminal.out(words);
}
