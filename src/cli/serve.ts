// The server as a command: start, say where it is, and stop cleanly on a signal.

import { performance } from "node:perf_hooks";
import { type App, start } from "../app/app.ts";
import type { Settings } from "../config/settings.ts";
import { StoreDamaged, StoreInUse } from "../core/store-errors.ts";
import { createLog, type ProcessLog } from "../telemetry/log.ts";
import { banner } from "./banner.ts";
import type { Arguments } from "./command/arguments.ts";
import { loadSettings, printProblems } from "./command/settings.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import { explainFailure, FAILED, isOn, UsageError } from "./command/usage.ts";

export async function serve({ words, flags }: Arguments): Promise<number> {
  const terminal = thisTerminal();
  try {
    if (words[0] !== undefined) throw new UsageError(`'${words[0]}' is one word too many.`);
    const { "no-color": _, demo, ...config } = flags;
    return isOn({ demo }, "demo") ? await serveDemo(config, terminal) : await serveFrom(config);
  } catch (error) {
    return explainFailure(error, "serve", terminal);
  }
}

async function serveDemo(flags: Arguments["flags"], terminal: Terminal): Promise<number> {
  // Loaded for the demo only: no other start should wait for it.
  const { demoNotes, demoSettings, demoStore, fillOnce } = await import("./serve-demo.ts");
  const { config, isTemporary, clear } = demoStore(flags);
  try {
    return await serveFrom(config, {
      notes: demoNotes(isTemporary),
      settingsOf: demoSettings,
      prepare: (settings) => fillOnce(settings, terminal),
    });
  } finally {
    clear();
  }
}

/** How a server is unlike any other. */
interface Variation {
  readonly notes: readonly string[];
  settingsOf(settings: Settings): Settings;
  /** Before the start; the text of a key when it made one. */
  prepare(settings: Settings): Promise<string | null>;
}

const AS_CONFIGURED: Variation = { notes: [], settingsOf: (settings) => settings, prepare: async () => null };

async function serveFrom(config: Arguments["flags"], variation: Variation = AS_CONFIGURED): Promise<number> {
  const startedAtMs = performance.now();
  const loaded = loadSettings(config);
  if (!loaded.ok) return printProblems(loaded);
  const settings = variation.settingsOf(loaded.settings);
  const log = createLog(settings.logging.logLevel);
  const started = await startOrExplain(settings, log, variation);
  if (started === null) return FAILED;
  const { app, madeKey } = started;
  const { url, setupLink, firstKey } = app;
  const shown = { url, setupLink, firstKey: firstKey ?? madeKey };
  const readyMs = performance.now() - startedAtMs;
  process.stdout.write(banner({ app: shown, settings, readyMs, notes: variation.notes }));
  for (const { place, message } of loaded.warnings) log.warn({ event: "config.warning", place }, message);
  await stopped(app, log);
  log.info({ event: "process.stopped" }, "stopped");
  await log.flush();
  return 0;
}

async function startOrExplain(
  settings: Settings,
  log: ProcessLog,
  { prepare }: Variation,
): Promise<{ readonly app: App; readonly madeKey: string | null } | null> {
  try {
    const madeKey = await prepare(settings);
    return { app: await start(settings, log), madeKey };
  } catch (error) {
    process.stderr.write(`switchyard cannot start: ${explain(error as NodeJS.ErrnoException, settings)}\n`);
    return null;
  }
}

function explain(error: NodeJS.ErrnoException, { server }: Settings): string {
  if (error.code === "EADDRINUSE") return `port ${server.port} is in use. Stop what uses it, or set PORT to another.`;
  if (error.code === "EACCES" && error.syscall === "listen")
    return `port ${server.port} may not be opened by this user. Set PORT to one above 1023.`;
  if (error instanceof StoreInUse) return error.message;
  if (error instanceof StoreDamaged) return error.advice;
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.message}${cause}. Look for the reason: switchyard doctor`;
}

/** npm passes on a Ctrl-C that the terminal has already sent to everybody; that is one signal, not two. */
const SAME_SIGNAL_MS = 250;

/**
 * Resolves when everything is closed. Only SIGTERM comes from something that balances traffic, so only it is followed by a
 * lame-duck time. A second signal means now: nobody is waited for, but what has been answered is still booked.
 */
function stopped(app: App, log: ProcessLog): Promise<void> {
  return new Promise((resolve, reject) => {
    let first: { readonly signal: string; readonly atMs: number } | null = null;
    const onSignal = (signal: string): void => {
      const atMs = performance.now();
      if (first === null) {
        first = { signal, atMs };
        log.info(
          { event: "process.stopping", signal },
          "stopping: open requests may finish; a second signal cuts them off",
        );
        app.stop({ isLameDuck: signal === "SIGTERM" }).then(resolve, reject);
      } else if (signal !== first.signal || atMs - first.atMs > SAME_SIGNAL_MS) {
        log.warn({ event: "process.stopping_now", signal }, "stopping now");
        app.hurry();
      }
    };
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, onSignal);
  });
}
