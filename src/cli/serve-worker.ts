// A worker of `switchyard serve`: an ordinary gateway on the port of its primary process, which tells it when to stop.

import { Socket } from "node:net";
import { type App, start } from "../app/app.ts";
import { LIFE, type StartedApp, type WorkerOrder } from "../app/primary.ts";
import type { WorkerSlot } from "../app/worker.ts";
import { formatProblems } from "../config/report.ts";
import type { Settings } from "../config/settings.ts";
import { createLog, type ProcessLog } from "../telemetry/log.ts";
import { requireSameBuild } from "../workers/build.ts";
import { createLink, type OpenLink } from "../workers/link.ts";
import { LINK_FD } from "../workers/supervisor.ts";
import { readArguments } from "./command/arguments.ts";
import { loadSame } from "./command/command.ts";
import { explainStart } from "./command/start-failure.ts";

/** Runs until the primary stops it, and never longer than the primary does. */
export async function serveWorker(argv: readonly string[]): Promise<void> {
  requireSameBuild();
  // A terminal and a service manager signal every process. The primary answers for all.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => undefined);
  const link = createLink(new Socket({ fd: LINK_FD }));
  void link.closed.then(() => process.exit(1));
  let begin = (_: Promise<RunningWorker>): void => undefined;
  endWhenTold(link, new Promise((resolve) => (begin = resolve)));
  const { file, ...slot } = (await link.call(LIFE.slot, null)) as WorkerOrder;
  const loaded = loadSame(readArguments(["serve", ...argv]).flags, file);
  if (!loaded.ok) return giveUp(link, formatProblems(loaded.problems));
  const { settings } = loaded;
  const log = createLog(settings.logging.logLevel, { isShared: true });
  const app = startWorker({ settings, log, worker: { ...slot, link } });
  begin(app.then((started) => ({ app: started, log })));
  await app.then(
    (started) => link.call(LIFE.started, shown(started)),
    (error: NodeJS.ErrnoException) => giveUp(link, explainStart(error, settings)),
  );
}

interface WorkerContext {
  readonly settings: Settings;
  readonly log: ProcessLog;
  readonly worker: WorkerSlot;
}

function startWorker({ settings, log, worker }: WorkerContext): Promise<App> {
  return start(settings, log, { logOutput: log, worker });
}

function shown({ url, publicUrl, firstKey, catalog, credit, setupLink }: App): StartedApp {
  return { url, publicUrl, firstKey, catalog, credit, setupLink };
}

async function giveUp(link: OpenLink, reason: string): Promise<never> {
  await link.call(LIFE.failed, reason);
  process.exit(1);
}

interface RunningWorker {
  readonly app: App;
  readonly log: ProcessLog;
}

/** One that is told while it starts, however early, stops as soon as it has. */
function endWhenTold(link: OpenLink, starting: Promise<RunningWorker>): void {
  // One that cannot start gives up by itself.
  starting.catch(() => undefined);
  link.on(LIFE.stop, (options) => {
    void starting.then(async ({ app, log }) => {
      await app.stop(options as Parameters<App["stop"]>[0]);
      await log.flush();
      process.exit(0);
    });
  });
  link.on(LIFE.hurry, () => void starting.then(({ app }) => app.hurry()));
}
