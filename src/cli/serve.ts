// The server as a command: start, say where it is, and stop cleanly on SIGTERM or SIGINT.

import { performance } from "node:perf_hooks";
import { type App, start } from "../app.ts";
import type { Settings } from "../config/settings.ts";
import { StoreInUse } from "../core/store-errors.ts";
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
  await stopSignal(log);
  await app.stop();
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
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.message}${cause}`;
}

/** Resolves at the first signal. A second one means now. */
function stopSignal(log: ProcessLog): Promise<void> {
  return new Promise((resolve) => {
    let hasBegun = false;
    const onSignal = (signal: string): void => {
      if (hasBegun) process.exit(1);
      hasBegun = true;
      log.info({ signal }, "stopping: no new requests, open ones may finish");
      resolve();
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
}
