// `switchyard serve --demo --public`: the demo for strangers. Settings that could reach anything outside are off, whatever
// the file and the environment say, and the process opens no connection at all.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createLogins } from "../../accounts/logins.ts";
import { type App, type LocalApp, start } from "../../app/app.ts";
import type { Settings } from "../../config/settings.ts";
import { demoSettings } from "../../demo/configuration.ts";
import { sealNetwork } from "../../demo/site/seal.ts";
import { openSite } from "../../demo/site/site.ts";
import { pathOf } from "../../http/exchange/request-head.ts";
import { createLoginStore } from "../../store/accounts/logins.ts";
import { createUserStore } from "../../store/accounts/users.ts";
import { openDb } from "../../store/db.ts";
import type { ProcessLog } from "../../telemetry/log.ts";
import type { Terminal } from "../command/terminal.ts";
import { VERSION } from "../help/help.ts";
import { demoNotes, fillOnce, VISITOR } from "./store.ts";

const MINUTE_MS = 60_000;
const MIB = 1024 * 1024;
const STORES_MAX = 20;
const TERMS = {
  storesMax: STORES_MAX,
  idleMs: 15 * MINUTE_MS,
  lifeMs: 60 * MINUTE_MS,
  bytesMax: 96 * MIB,
  renewMs: 6 * 60 * MINUTE_MS,
} as const;
const BODY_BYTES_MAX = MIB;
/** A store may lie on disk with so much more than the demo, until the next look at its size. */
const STORED_BYTES_MAX = 16 * MIB;

export function siteSettings(given: Settings): Settings {
  const settings = demoSettings(given);
  const { server, limits, prices, files } = settings;
  return {
    ...settings,
    server: {
      ...server,
      isReadOnly: false,
      bodyLimitBytes: Math.min(server.bodyLimitBytes, BODY_BYTES_MAX),
      uploadLimitBytes: Math.min(server.uploadLimitBytes, BODY_BYTES_MAX),
      isLocalDiscovered: false,
      isWarmedUp: false,
    },
    limits: { ...limits, bodyBytes: 32 * MIB },
    files: { ...files, filesBytesPerAccount: STORED_BYTES_MAX, batchBytesPerAccount: STORED_BYTES_MAX },
    prices: { ...prices, priceCheck: "off" },
    ...{ identityProviders: [], secret: null, tracing: null, metricExport: null, logExport: null },
  };
}

export function siteScreen({ url, publicUrl }: App, readyMs: number, startPage: string): string {
  const [generated = ""] = demoNotes(true);
  const lines = [
    "",
    `  switchyard ${VERSION}   node ${process.versions.node}   public demo   ready in ${(readyMs / 1000).toFixed(1)} s`,
    "",
    `  Dashboard   ${publicUrl}${startPage}`,
    ...(publicUrl === url ? [] : [`  Listening   ${url}`]),
    generated,
    `  Visitors    up to ${STORES_MAX} who change something get a store of their own, for an hour at most`,
    "  Network     this process opens no connection",
    "",
    "",
  ];
  return lines.join("\n");
}

/** Resolves when strangers may come. */
export async function startSite(
  settings: Settings,
  { log, terminal }: { readonly log: ProcessLog; readonly terminal: Terminal },
): Promise<App> {
  sealNetwork();
  const site = await openSite({
    ...TERMS,
    ...{ server: settings.server, log, pathOf },
    async fill(folder) {
      mkdirSync(folder);
      const there = settingsIn(folder, settings);
      await fillOnce(there, terminal);
      return openLogin(there.database);
    },
    start: (folder, login) => startStore(settingsIn(folder, settings), { log, login }),
  });
  const { catalog, billing } = settings;
  const nothing = { firstKey: null, setupLink: null, credit: { available: 0n, mode: billing.billingMode } };
  return { ...site, ...nothing, catalog, hurry: () => undefined };
}

/** A gateway that only this process can reach, under the address of the site. */
function settingsIn(folder: string, settings: Settings): Settings {
  const server = { ...settings.server, host: "127.0.0.1", port: 0 };
  return { ...settings, server, dataDir: folder, database: `sqlite:${join(folder, "switchyard.db")}` };
}

function startStore(settings: Settings, { log, login }: { log: ProcessLog; login: string }): Promise<LocalApp> {
  return start(settings, log, { logOutput: log, visitor: VISITOR, visitorLogin: login });
}

/** Stores are copies, so one login fits all of them. The cookie of the site says whose store is meant. */
async function openLogin(database: string): Promise<string> {
  const db = await openDb(database, { exclusive: true });
  try {
    const user = await createUserStore(db).byEmail(VISITOR);
    if (user === null) throw new Error("the demo has no user for its visitors");
    return await createLogins({ store: createLoginStore(db) }).open(user);
  } finally {
    await db.close();
  }
}
