// The checks of `switchyard doctor` that touch the world. They leave nothing behind, and cost nothing unless providers are
// asked for an answer.

import type { Check } from "../../config/doctor.ts";
import { readPackage } from "../../config/package.ts";
import type { Settings } from "../../config/settings.ts";
import { UI_FOLDER } from "../../http/pages/ui.ts";
import { clockChecks, providerClocks } from "./clock.ts";
import { databaseCheck, dataCheck } from "./database.ts";
import { diskCheck, redisCheck, uiCheck } from "./machine.ts";
import { portCheck } from "./port.ts";
import { askProviders, listingCheck, listProviders } from "./providers.ts";

export interface LiveOptions {
  readonly asksProviders: boolean;
  readonly nowMs: number;
}

export async function liveChecks(settings: Settings, options: LiveOptions): Promise<readonly Check[]> {
  const { catalog, dataDir, server } = settings;
  const [database, redis, port, listings, answers] = await Promise.all([
    databaseCheck(settings.database),
    redisCheck(settings.redis),
    portCheck(server),
    listProviders(catalog),
    options.asksProviders ? askProviders(catalog) : null,
  ]);
  return [
    dataCheck(dataDir),
    diskCheck(dataDir),
    database.check,
    ...(redis === null ? [] : [redis]),
    uiCheck(UI_FOLDER),
    port,
    ...(answers ?? listings.map(listingCheck)),
    ...clockChecks({ providers: providerClocks(listings), database: database.clock }, options.nowMs),
  ];
}

/** `needed` as package.json writes it: `>=20.19`. */
export function checkNode(version: string, needed: string = readPackage().engines.node): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [neededMajor = 0, neededMinor = 0] = needed.replace(/^\D+/, "").split(".").map(Number);
  const isEnough = major > neededMajor || (major === neededMajor && minor >= neededMinor);
  if (isEnough) return { state: "ok", what: `Node ${version}`, fix: null };
  return {
    state: "fail",
    what: `Node ${version} is too old`,
    fix: `Install Node ${neededMajor}.${neededMinor} or newer`,
  };
}
