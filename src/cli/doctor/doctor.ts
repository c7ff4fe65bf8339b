// `switchyard doctor`: every check on one line, each with what to do about it. It fixes nothing itself.

import { type Check, diagnose } from "../../config/doctor.ts";
import { command, readPackage } from "../../config/package.ts";
import type { Settings } from "../../config/settings.ts";
import { UI_FOLDER } from "../../http/pages/ui.ts";
import type { Arguments } from "../command/arguments.ts";
import { BAD_CONFIGURATION, loadSettings, printJson } from "../command/command.ts";
import { effective } from "../command/effective.ts";
import { isOn, splitFlags } from "../command/flags.ts";
import { countStates, formatCheck, hasColour } from "../command/symbols.ts";
import { type Terminal, thisTerminal } from "../command/terminal.ts";
import * as TEXT from "../command/text.ts";
import { explainFailure, FAILED, UsageError } from "../command/usage.ts";
import { clockChecks, providerClocks } from "./clock.ts";
import { databaseCheck, dataCheck } from "./database.ts";
import { identityChecks } from "./identity.ts";
import { diskCheck, isServing, portCheck, redisCheck, uiCheck } from "./machine.ts";
import { priceFeedChecks } from "./prices.ts";
import { askProviders, listingCheck, listProviders, localChecks } from "./providers.ts";
import { secretChecks } from "./secret.ts";
import { versionChecks } from "./versions.ts";

/** Exit 0 when nothing fails, 1 when something does, 78 when the configuration cannot be used. */
export async function doctor(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  try {
    const { own, config } = splitFlags(args.flags, ["json", "test", "no-color"]);
    if (args.words[0] !== undefined) throw new UsageError(TEXT.unexpectedArgument(args.words[0]));
    const isJson = isOn(own, "json");
    const isColoured = hasColour(own, terminal);
    const written = loadSettings(config, terminal);
    // The database check reports these problems anyway.
    const loaded = written.ok ? { ...written, settings: await effective(written.settings, QUIET) } : written;
    const checks = [checkNode(process.versions.node), ...diagnose(loaded, terminal.env, terminal.now())];
    if (loaded.ok)
      checks.push(...(await liveChecks(loaded.settings, { asksProviders: isOn(own, "test"), nowMs: terminal.now() })));
    if (isJson) printJson({ ok: checks.every(({ state }) => state !== "fail"), checks }, terminal);
    else {
      terminal.out(checks.map((check) => formatCheck(check, isColoured)).join(""));
      terminal.say(`\n${summaryOf(checks)}\n`);
    }
    if (!loaded.ok) return BAD_CONFIGURATION;
    return checks.some(({ state }) => state === "fail") ? FAILED : 0;
  } catch (error) {
    return explainFailure(error, "doctor", terminal);
  }
}

const QUIET = { say: () => undefined };

/** The last line. */
function summaryOf(checks: readonly Check[]): string {
  const { failed, warned } = countStates(checks);
  const warnings = warned === 0 ? "" : `, ${warned} ${warned === 1 ? "warning" : "warnings"}`;
  if (failed === 0) return `Ready${warnings}.${checks.some(isServing) ? "" : TEXT.startIt(command("serve"))}`;
  return `${failed} ${failed === 1 ? "problem" : "problems"}${warnings}.`;
}

interface LiveOptions {
  /** With --test: one tiny answer of each provider. */
  readonly asksProviders: boolean;
  readonly nowMs: number;
}

/** Checks that touch the world. They leave nothing behind, and cost nothing unless providers are asked for an answer. */
async function liveChecks(settings: Settings, options: LiveOptions): Promise<readonly Check[]> {
  const { catalog, dataDir, server } = settings;
  const [database, redis, port, listings, answers, local, identity] = await Promise.all([
    databaseCheck(settings.database, async (db) => [
      ...(await secretChecks(db, settings)),
      ...(await versionChecks(db, settings)),
      ...(await priceFeedChecks(db, settings, options.nowMs)),
    ]),
    redisCheck(settings.redis),
    portCheck(server),
    listProviders(catalog),
    options.asksProviders ? askProviders(catalog) : null,
    server.isLocalDiscovered ? localChecks(catalog, { ownPort: server.port }) : [],
    identityChecks(settings),
  ]);
  return [
    dataCheck(dataDir),
    diskCheck(dataDir),
    database.check,
    ...database.further,
    ...(redis === null ? [] : [redis]),
    uiCheck(UI_FOLDER),
    port,
    ...(answers ?? listings.map((listing) => listingCheck(listing, options.nowMs))),
    ...local,
    ...identity,
    ...clockChecks({ providers: providerClocks(listings), database: database.clock }, options.nowMs),
  ];
}

/** `needed` is written as in package.json: `>=20.19`. Exported for its tests. */
export function checkNode(version: string, needed: string = readPackage().engines.node): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [neededMajor = 0, neededMinor = 0] = needed.replace(/^\D+/, "").split(".").map(Number);
  const isEnough = major > neededMajor || (major === neededMajor && minor >= neededMinor);
  if (isEnough) return { state: "ok", what: `Node ${version}`, fix: null };
  return {
    state: "fail",
    what: TEXT.nodeTooOld(version),
    fix: TEXT.installNode(neededMajor, neededMinor),
  };
}
