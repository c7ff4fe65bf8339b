// `switchyard serve`: starts the gateway, prints where it is, and stops cleanly on a signal.

import { relative } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import type { App } from "../app/app.ts";
import type { StopOptions } from "../app/drain.ts";
import { StartFailed, startPrimary } from "../app/primary.ts";
import { SANDBOX_ID } from "../catalog/build.ts";
import { readBuiltin } from "../catalog/builtin.ts";
import { readMachine } from "../config/machine.ts";
import { command } from "../config/package.ts";
import type { FileText, Settings } from "../config/settings.ts";
import { sqlitePathOf } from "../core/db.ts";
import { createLog, type ProcessLog } from "../telemetry/log.ts";
import { ALONE, type Crew, workersFor } from "../workers/count.ts";
import type { Arguments, Flags } from "./command/arguments.ts";
import { loadSettings, printProblems } from "./command/command.ts";
import { isOn } from "./command/flags.ts";
import { explainStart } from "./command/start-failure.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";
import { explainFailure, FAILED, UsageError } from "./command/usage.ts";
import { VERSION } from "./help/help.ts";

/** Runs until a signal stops it. */
export async function serve({ words, flags }: Arguments): Promise<number> {
  const terminal = thisTerminal();
  try {
    if (words[0] !== undefined) throw new UsageError(TEXT.unexpectedArgument(words[0]));
    const { "no-color": _, demo, public: forPublic, ...config } = flags;
    const isPublic = isOn({ public: forPublic }, "public");
    if (!isOn({ demo }, "demo")) {
      if (isPublic) throw new UsageError(TEXT.publicNeedsDemo);
      return await serveFrom(config);
    }
    return isPublic ? await serveSite(config, terminal) : await serveDemo(config, terminal);
  } catch (error) {
    return explainFailure(error, "serve", terminal);
  }
}

/** A temporary store is deleted when the server stops. */
async function serveDemo(flags: Flags, terminal: Terminal): Promise<number> {
  // Loaded for the demo only: no other start should wait for it.
  const { demoNotes, demoStore, fillOnce, VISITOR } = await import("./demo/store.ts");
  const { demoSettings } = await import("../demo/configuration.ts");
  const { config, isTemporary, clear } = demoStore(flags);
  try {
    return await serveFrom(config, {
      startPage: DEMO_PAGE,
      notes: demoNotes(isTemporary),
      visitor: VISITOR,
      settingsOf: demoSettings,
      prepare: (settings) => fillOnce(settings, terminal),
    });
  } finally {
    clear();
  }
}

/** A month of the demo costs dollars; a day of it costs cents. */
const DEMO_PAGE = "/?range=30d";

/** The demo for strangers. Its stores are temporary, so none can be named. */
async function serveSite(flags: Flags, terminal: Terminal): Promise<number> {
  const { siteScreen, siteSettings, startSite } = await import("./demo/site.ts");
  return serveFrom(flags, {
    ...{
      screen: siteScreen,
      startPage: DEMO_PAGE,
      notes: [],
      visitor: null,
      settingsOf: siteSettings,
      prepare: async () => null,
    },
    start: (settings, log) => startSite(settings, { log, terminal }),
  });
}

/** Differences of a demo server. */
interface ServeVariant {
  /** Path and range at which the first screen opens the dashboard. */
  readonly startPage: string;
  readonly notes: readonly string[];
  /** The e-mail of the user that visitors of the dashboard are signed in as. */
  readonly visitor: string | null;
  settingsOf(settings: Settings): Settings;
  /** Runs before the start. The text of an API key when it made one. */
  prepare(settings: Settings): Promise<string | null>;
  /** The first screen, where it is not that of a gateway. */
  screen?(app: App, readyMs: number, startPage: string): string;
  /** Starts something else than one gateway. */
  start?(settings: Settings, log: ProcessLog): Promise<App>;
}

const AS_CONFIGURED: ServeVariant = {
  startPage: "",
  notes: [],
  visitor: null,
  settingsOf: (settings) => settings,
  prepare: async () => null,
};

async function serveFrom(config: Flags, variant: ServeVariant = AS_CONFIGURED): Promise<number> {
  const startedAtMs = performance.now();
  const loaded = loadSettings(config);
  if (!loaded.ok) return printProblems(loaded);
  const settings = variant.settingsOf(loaded.settings);
  const crew = variant === AS_CONFIGURED ? workersFor(settings.server.workers, readMachine()) : ALONE;
  const log = createLog(settings.logging.logLevel, { isShared: crew.most > 1 });
  const started =
    crew.most > 1
      ? await startWorkers(settings, log, { crew, config, file: loaded.file })
      : await startOrExplain(settings, log, variant);
  if (typeof started === "string") {
    process.stderr.write(TEXT.cannotStart(started));
    return FAILED;
  }
  const { app, madeKey } = started;
  // The gateway serves already, so a signal must not end it at once from here on.
  let isStopping = false;
  const stopped = untilStopped(app, log, () => {
    isStopping = true;
  });
  // Awaited below. A stop that fails before that is no crash.
  stopped.catch(() => undefined);
  const found = settings.server.isLocalDiscovered && variant === AS_CONFIGURED ? await foundLines(settings, app) : [];
  const shown = { ...app, firstKey: app.firstKey ?? madeKey, isFirstStart: app.firstKey !== null };
  const readyMs = performance.now() - startedAtMs;
  const notes = [...variant.notes, ...found];
  const { startPage } = variant;
  const screen =
    variant.screen?.(app, readyMs, startPage) ?? banner({ app: shown, settings, crew, readyMs, startPage, notes });
  // Nobody needs it once the gateway stops, but a new key is shown here and nowhere else.
  if (!isStopping || shown.firstKey !== null) log.print(screen);
  for (const { place, message } of loaded.warnings) log.warn({ event: "config.warning", place }, message);
  const exitCode = await stopped;
  log.info({ event: "process.stopped" }, "stopped");
  await log.flush();
  return exitCode;
}

/** The banner is not kept waiting for longer. */
const DISCOVERY_MS = 250;

/** Model servers on this machine that no provider is configured for, one line each. */
async function foundLines({ catalog }: Settings, { url }: App): Promise<readonly string[]> {
  const { discover } = await import("../providers/local/discover.ts");
  const { compareFound, nameFound } = await import("../gateway/operate/local-servers.ts");
  const ownPort = Number(new URL(url).port);
  const found = await discover({ address: null, withinMs: DISCOVERY_MS, hasDetails: false, ownPort });
  return compareFound(found, catalog)
    .filter(({ provider }) => provider === null)
    .map((server) => `  Found       ${nameFound(server)}: ${command("providers discover")}`);
}

interface Started {
  readonly app: App;
  readonly madeKey: string | null;
}

/** The reason in words when it cannot start. */
async function startOrExplain(
  settings: Settings,
  log: ProcessLog,
  { prepare, visitor, start: startOther }: ServeVariant,
): Promise<Started | string> {
  try {
    const madeKey = await prepare(settings);
    if (startOther !== undefined) return { app: await startOther(settings, log), madeKey };
    // Loaded here only: a primary process would hold the code of a gateway that it does not run.
    const { start } = await import("../app/app.ts");
    return { app: await start(settings, log, { logOutput: log, visitor }), madeKey };
  } catch (error) {
    return explainStart(error as NodeJS.ErrnoException, settings);
  }
}

/** A worker reads the same configuration from the same places. */
async function startWorkers(
  settings: Settings,
  log: ProcessLog,
  { crew, config, file }: { readonly crew: Crew; readonly config: Flags; readonly file: FileText | null },
): Promise<Started | string> {
  const args = Object.entries(config).map(([name, value]) => `--${name}=${value}`);
  const program = fileURLToPath(new URL("./worker-process.mjs", import.meta.url));
  try {
    return { app: await startPrimary(settings, log, { crew, program, args, file }), madeKey: null };
  } catch (error) {
    return error instanceof StartFailed ? error.message : explainStart(error as NodeJS.ErrnoException, settings);
  }
}

/** npm passes on a Ctrl-C that the terminal has sent to the whole group already: that is one signal, not two. */
const SAME_SIGNAL_MS = 250;

/**
 * Resolves with the exit code when everything is closed. Only SIGTERM comes from a load balancer, so only it is followed
 * by a lame-duck time. A second signal means now: open requests are cut off, but finished ones are still charged.
 */
function untilStopped(app: App, log: ProcessLog, onStopping: () => void): Promise<number> {
  return new Promise((resolve, reject) => {
    let first: { readonly signal: string; readonly atMs: number } | null = null;
    const stop = (options: StopOptions, exitCode: number): void => {
      onStopping();
      app.stop(options).then(() => resolve(exitCode), reject);
    };
    const onSignal = (signal: string): void => {
      const atMs = performance.now();
      if (first === null) {
        first = { signal, atMs };
        log.info(
          { event: "process.stopping", signal },
          "stopping: waiting for open requests; signal again to stop now",
        );
        stop({ isLameDuck: signal === "SIGTERM" }, 0);
      } else if (signal !== first.signal || atMs - first.atMs > SAME_SIGNAL_MS) {
        log.warn(
          { event: "process.stopping_now", signal },
          "stopping now: open requests end with an error and cost nothing",
        );
        app.hurry();
      }
    };
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, onSignal);
    void app.lost?.then(() => {
      if (first !== null) return;
      first = { signal: "", atMs: performance.now() };
      log.error({ event: "process.lost" }, "stopping: no worker is left; start the gateway again");
      // A supervisor starts what has failed, and then it is the new build.
      stop({}, FAILED);
    });
  });
}

interface BannerInput {
  readonly app: Pick<App, "url" | "publicUrl" | "firstKey" | "setupLink" | "credit" | "catalog"> & {
    /** True if this start created the account. */
    readonly isFirstStart: boolean;
  };
  readonly settings: Settings;
  readonly crew: Crew;
  readonly readyMs: number;
  readonly startPage: string;
  /** Lines under the providers. */
  readonly notes?: readonly string[];
}

/** The first screen: where it is, what it uses, the first key, and one command that works as pasted. */
function banner({ app, settings, crew, readyMs, startPage, notes = [] }: BannerInput): string {
  const store = storeName(settings.database);
  const { least, most } = crew;
  const workers = most === 1 ? "" : `   workers ${least === most ? most : `${least} to ${most}`}`;
  const key = app.firstKey ?? "$SWITCHYARD_KEY";
  const lines = [
    "",
    `  switchyard ${VERSION}   node ${process.versions.node}   store ${store}${workers}   ready in ${seconds(readyMs)}`,
    "",
    `  Base URL    ${app.publicUrl}/v1`,
    ...(app.publicUrl === app.url ? [] : [`  Listening   ${app.url}`]),
    app.setupLink === null
      ? `  Dashboard   ${app.publicUrl}${startPage}`
      : `  Dashboard   ${app.setupLink}   (one-time link: choose your password)`,
    `  Providers   ${providersLine(app)}`,
    ...notes,
    `  Credits     ${creditsLine(app)}`,
    app.firstKey === null
      ? `  API key     created on first start; create another: ${command("keys create --name NAME")}`
      : `  API key     ${app.firstKey}   (shown once)`,
    "",
    "  Try it:",
    "",
    `  curl -s ${app.publicUrl}/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`,
    `    -d '{"model":"auto","messages":[{"role":"user","content":"What is the capital of France?"}]}'`,
    "",
    "",
  ];
  return lines.join("\n");
}

function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}

/** A first start says that its credit is a cap, because nobody asked for it. */
function creditsLine({ credit, isFirstStart }: BannerInput["app"]): string {
  if (credit.mode === "metered") return TEXT.metered;
  const amount = `$${(Number(credit.available / 10_000n) / 100_000).toFixed(2)}`;
  if (credit.available <= 0n) return TEXT.noCredits(amount, command("credits add 10"));
  return isFirstStart ? TEXT.starterCredit(amount) : amount;
}

/** A file is shown relative to the working folder. A network address may hold a password and is not shown. */
function storeName(database: string): string {
  const file = sqlitePathOf(database);
  if (file === null) return "postgres";
  const path = relative(process.cwd(), file);
  return path.startsWith("..") ? database : `sqlite:./${path}`;
}

function providersLine({ catalog }: Pick<App, "catalog">): string {
  const providers = [...catalog.providers.values()];
  if (providers.every(({ id }) => id === SANDBOX_ID)) {
    const variables = readBuiltin()
      .providers.slice(0, 3)
      .map(({ keyVariable }) => keyVariable);
    return TEXT.sandbox(variables.join(", "));
  }
  const isSimulated = providers.every(({ transport }) => transport === "sandbox");
  return `${providers.map(({ id }) => id).join(", ")}${isSimulated ? " (simulated)" : ""}`;
}
