// The gateway of `switchyard run`: the one that was named, the one that runs here, or one that is started for the session
// and stopped with it. A local one gets a key that ends with the session.

import { mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_ACCOUNT } from "../../accounts/accounts.ts";
import { start } from "../../app/app.ts";
import { SANDBOX_ID } from "../../catalog/build.ts";
import { openableUrl } from "../../config/network.ts";
import { command } from "../../config/package.ts";
import type { Settings } from "../../config/settings.ts";
import { createLog } from "../../telemetry/log.ts";
import { keptToken } from "../access/login.ts";
import { withStore } from "../command/store.ts";
import type { Terminal } from "../command/terminal.ts";
import { reasonOf } from "../command/usage.ts";
import * as TEXT from "./text.ts";

export interface SessionGateway {
  readonly url: string;
  readonly key: string;
  /** True where only the sandbox answers, as far as can be told. */
  readonly isSimulated: boolean;
  /** The time within which all its workers have written what they served. */
  readonly writesWithinMs: number;
  /** Ends the session: its key, and the gateway where it was started for it. */
  close(): Promise<void>;
}

export interface WantedSession {
  readonly program: string;
  /** Address of a gateway that was named; null for the local one. */
  readonly url: string | null;
  readonly settings: Settings;
  readonly terminal: Terminal;
}

/** Workers write their records in batches. */
const WORKERS_WRITE_MS = 600;

/** Returns a sentence where there is none that can be used. */
export async function openGateway(wanted: WantedSession): Promise<SessionGateway | string> {
  const { url, settings, terminal } = wanted;
  if (url !== null) return remoteGateway(url, terminal);
  const local = openableUrl(settings.server);
  return (await isGateway(local)) ? runningGateway(local, wanted) : startedGateway(wanted);
}

async function remoteGateway(url: string, terminal: Terminal): Promise<SessionGateway | string> {
  const key = terminal.env.SWITCHYARD_KEY ?? (await keptToken(url, terminal));
  if (key === null) return TEXT.remoteKey(url, command(`login --url ${url}`));
  const problem = await problemWith(url, key);
  if (problem !== null) return typeof problem === "number" ? TEXT.keyRefused(url, problem) : problem;
  terminal.say(TEXT.using(url));
  return { url, key, isSimulated: false, writesWithinMs: WORKERS_WRITE_MS, close: async () => undefined };
}

/** A gateway on this machine with the database of this command. */
async function runningGateway(url: string, wanted: WantedSession): Promise<SessionGateway | string> {
  const { terminal, settings } = wanted;
  const own = terminal.env.SWITCHYARD_KEY;
  const session = own === undefined ? await makeKey(wanted) : { key: own, end: async () => undefined };
  const problem = await problemWith(url, session.key);
  if (problem !== null) {
    await session.end();
    if (typeof problem === "string") return problem;
    return own === undefined ? TEXT.otherGateway(url) : TEXT.keyRefused(url, problem);
  }
  terminal.say(TEXT.using(url));
  return {
    url,
    key: session.key,
    isSimulated: isSimulated(settings.catalog),
    writesWithinMs: WORKERS_WRITE_MS,
    close: session.end,
  };
}

/** On a free port of this machine, for nobody else. Its log goes to a file: the screen is the program's. */
async function startedGateway(wanted: WantedSession): Promise<SessionGateway> {
  const { terminal } = wanted;
  const settings = sessionSettings(wanted.settings);
  mkdirSync(settings.dataDir, { recursive: true });
  const log = createLog(settings.logging.logLevel, { fd: openSync(join(settings.dataDir, "run.log"), "a", 0o600) });
  const app = await start(settings, log, { logOutput: log });
  const { key, end } = await makeKey({ ...wanted, settings });
  terminal.say(TEXT.started(app.url, settings.dataDir));
  const close = async (): Promise<void> => {
    await app.stop();
    await end();
    await log.flush();
  };
  return { url: app.url, key, isSimulated: isSimulated(app.catalog), writesWithinMs: 0, close };
}

/** The user pays the providers directly, so a session has no credits to run out of unless billing was configured. */
function sessionSettings(settings: Settings): Settings {
  const { server, billing, options } = settings;
  const isConfigured = options.some(({ path, origin }) => path === "billing.mode" && origin !== "default");
  return {
    ...settings,
    server: { ...server, host: "127.0.0.1", port: 0, lameDuckSeconds: 0, drainSeconds: 0, isWarmedUp: false },
    billing: isConfigured ? billing : { ...billing, billingMode: "metered" },
  };
}

function isSimulated({ providers }: Settings["catalog"]): boolean {
  return [...providers.keys()].every((id) => id === SANDBOX_ID);
}

/** Long enough for any session, so that a key whose session was killed does not stay. */
const KEY_LIFE_MS = 7 * 24 * 60 * 60 * 1000;

async function makeKey({ program, settings, terminal }: WantedSession) {
  const expiresAtMs = terminal.now() + KEY_LIFE_MS;
  const name = `run ${program}`.slice(0, 80);
  const made = await withStore(settings.database, async (store) => {
    await store.requireAccount(DEFAULT_ACCOUNT, terminal.now());
    return store.keys.create({ accountId: DEFAULT_ACCOUNT, name, expiresAtMs });
  });
  const end = async (): Promise<void> => {
    await withStore(settings.database, ({ keys }) => keys.revoke(DEFAULT_ACCOUNT, [made.key.id]));
  };
  return { key: made.text, end };
}

const ANSWER_MS_MAX = 10_000;

/** Tells whether a gateway of ours answers at this address. */
async function isGateway(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/v1/key`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    const { error } = (await response.json()) as { readonly error?: { readonly code?: unknown } };
    return response.status === 401 && typeof error?.code === "string";
  } catch {
    return false;
  }
}

/** The status with which a gateway refuses the key, or a sentence where none answers; null where all is well. */
async function problemWith(url: string, key: string): Promise<number | string | null> {
  try {
    const response = await fetch(`${url}/v1/key`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    await response.arrayBuffer();
    return response.ok ? null : response.status;
  } catch (error) {
    return TEXT.notGateway(url, reasonOf(error));
  }
}
