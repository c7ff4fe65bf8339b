// The server as a command: start, say where it is, and stop cleanly on a signal.

import { performance } from "node:perf_hooks";
import { type App, start } from "../app.ts";
import type { Settings } from "../config/settings.ts";
import { StoreDamaged, StoreInUse } from "../core/store-errors.ts";
import { createLog, type ProcessLog } from "../telemetry/log.ts";
import type { Arguments } from "./arguments.ts";
import { banner } from "./banner.ts";
import { loadSettings, printProblems } from "./settings.ts";

export async function serve({ flags }: Arguments): Promise<number> {
  const startedAtMs = performance.now();
  const { "no-color": _, ...config } = flags;
  const loaded = loadSettings(config);
  if (!loaded.ok) return printProblems(loaded);
  const log = createLog(loaded.settings.logLevel);
  const app = await startOrExplain(loaded.settings, log);
  if (app === null) return 1;
  process.stdout.write(
    banner({ app, settings: loaded.settings, env: process.env, readyMs: performance.now() - startedAtMs }),
  );
  for (const { place, message } of loaded.warnings) log.warn({ place }, message);
  await stopped(app, log);
  log.info({}, "stopped");
  log.flush();
  return 0;
}

async function startOrExplain(settings: Settings, log: ProcessLog): Promise<App | null> {
  try {
    return await start(settings, log);
  } catch (error) {
    process.stderr.write(`switchyard cannot start: ${explain(error as NodeJS.ErrnoException, settings)}\n`);
    return null;
  }
}

function explain(error: NodeJS.ErrnoException, { server }: Settings): string {
  if (error.code === "EADDRINUSE") return `port ${server.port} is in use. Stop what uses it, or set PORT to another.`;
  if (error.code === "EACCES") return `port ${server.port} may not be opened by this user. Set PORT to one above 1023.`;
  if (error instanceof StoreInUse) return error.message;
  if (error instanceof StoreDamaged) return error.advice;
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.message}${cause}`;
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
        log.info({ signal }, "stopping: open requests may finish; a second signal cuts them off");
        app.stop({ isLameDuck: signal === "SIGTERM" }).then(resolve, reject);
      } else if (signal !== first.signal || atMs - first.atMs > SAME_SIGNAL_MS) {
        log.warn({ signal }, "stopping now");
        app.hurry();
      }
    };
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, onSignal);
  });
}
