// `switchyard run PROGRAM`: starts a program with its traffic through a gateway, for this session only, and says at the end
// what the session cost and what it would have cost. No file of the program is changed.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { readBuiltin } from "../../catalog/builtin.ts";
import { formatUsd, parseUsd } from "../../core/money.ts";
import type { BaselinePrice } from "../../core/requests/records.ts";
import type { Arguments, Flags } from "../command/arguments.ts";
import { type Parsed, runCommand } from "../command/command.ts";
import { gatewayUrl, splitFlags, textOf } from "../command/flags.ts";
import { type Terminal, thisTerminal } from "../command/terminal.ts";
import { FAILED, UsageError } from "../command/usage.ts";
import { openGateway, type SessionGateway } from "./gateway.ts";
import { KNOWN_PROGRAMS, launchOf } from "./programs.ts";
import * as TEXT from "./text.ts";

interface RunOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly url: string | null;
}

/** The exit code of shells for a program that was not found. */
const NOT_FOUND = 127;
/** Shells add the number of the signal that ended a program. */
const SIGNALLED = 128;

export function run(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "run", terminal, parse: () => parseRun(args, terminal) },
    run: async ({ program, args: given, url }, settings) => {
      const gateway = await openGateway({ program, url, settings, terminal });
      if (typeof gateway === "string") {
        terminal.say(gateway);
        return FAILED;
      }
      if (gateway.isSimulated) terminal.say(TEXT.sandboxOnly(someVariables()));
      try {
        return await session({ program, args: given, gateway, terminal });
      } finally {
        await gateway.close();
      }
    },
  });
}

function parseRun({ words, flags }: Arguments, terminal: Terminal): Parsed<RunOptions> {
  const [program, ...args] = words;
  if (program === undefined) throw new UsageError(TEXT.nameProgram(KNOWN_PROGRAMS.slice(0, 3).join(", ")));
  const { own, config } = splitFlags(flags, ["url", "no-color"]);
  const url = textOf(own, "url");
  return { options: { program, args, url: url === null ? null : gatewayUrl(url) }, config: withHome(config, terminal) };
}

/** A session in a folder without a gateway of its own keeps its data in the user's home, so that no project gets a `data`. */
function withHome(config: Flags, { env, cwd }: Terminal): Flags {
  const isNamed = ["data", "database", "config"].some((name) => config[name] !== undefined);
  const isSet = ["SWITCHYARD_DATA", "DATABASE_URL", "SWITCHYARD_CONFIG"].some((name) => env[name] !== undefined);
  const isHere = ["switchyard.yaml", join("data", "switchyard.db")].some((file) => existsSync(join(cwd, file)));
  if (isNamed || isSet || isHere) return config;
  return { ...config, data: homeData(env) };
}

function homeData(env: Terminal["env"]): string {
  return join(env.XDG_DATA_HOME ?? join(env.HOME ?? env.USERPROFILE ?? ".", ".local", "share"), "switchyard");
}

function someVariables(): string {
  return readBuiltin()
    .providers.slice(0, 3)
    .map(({ keyVariable }) => keyVariable)
    .join(", ");
}

interface Session {
  readonly program: string;
  readonly args: readonly string[];
  readonly gateway: SessionGateway;
  readonly terminal: Terminal;
}

async function session(options: Session): Promise<number> {
  // Gemini CLI reads no settings below a folder that others may write, as the system's temporary one is.
  const home = homeData(options.terminal.env);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(join(home, "session-"));
  try {
    return await sessionIn(folder, options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function sessionIn(folder: string, { program, args, gateway, terminal }: Session): Promise<number> {
  const keep = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const launch = launchOf(program, { url: gateway.url, key: gateway.key, keep });
  const env: Record<string, string | undefined> = { ...terminal.env };
  for (const [name, value] of Object.entries(launch.env)) env[name] = value ?? undefined;
  const before = await usageOf(gateway);
  const child = spawn(program, [...(launch.args ?? []), ...args], {
    stdio: "inherit",
    cwd: terminal.cwd,
    env,
    // Programs that npm installs are scripts there.
    shell: process.platform === "win32",
  });
  const code = await ended(child);
  if (code === null) {
    terminal.say(TEXT.notThere(program));
    return NOT_FOUND;
  }
  await wait(gateway.writesWithinMs);
  tell(before, await usageOf(gateway), { program, gateway, terminal });
  return code;
}

/** The program's exit code; null where it could not be started. Signals are the program's to answer. */
function ended(child: ChildProcess): Promise<number | null> {
  const fromTerminal = (): void => undefined;
  const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on("SIGINT", fromTerminal);
  for (const signal of PASSED_ON) process.on(signal, passOn);
  return new Promise<number | null>((resolve, reject) => {
    child.once("error", (error: NodeJS.ErrnoException) => (error.code === "ENOENT" ? resolve(null) : reject(error)));
    child.once("exit", (code, signal) => resolve(code ?? SIGNALLED + (signal ? constants.signals[signal] : 0)));
  }).finally(() => {
    process.off("SIGINT", fromTerminal);
    for (const signal of PASSED_ON) process.off(signal, passOn);
  });
}

/** A terminal sends Ctrl-C to the program by itself, but these only to us. */
const PASSED_ON = ["SIGTERM", "SIGHUP"] as const;

interface UsedByKey {
  readonly usage: {
    readonly requests: number;
    readonly errors: number;
    readonly cost_usd: string;
    readonly baseline_cost_usd: string;
  };
  readonly baseline: {
    readonly model: string;
    readonly price: (Omit<BaselinePrice, "asOf"> & { as_of: string }) | null;
  };
}

/** Reads what the session's key has used; null where the gateway does not say. */
async function usageOf({ url, key }: SessionGateway): Promise<UsedByKey | null> {
  try {
    const response = await fetch(`${url}/v1/key`, { headers: { authorization: `Bearer ${key}` } });
    return response.ok ? ((await response.json()) as UsedByKey) : null;
  } catch {
    return null;
  }
}

function tell(
  before: UsedByKey | null,
  after: UsedByKey | null,
  { program, gateway, terminal }: Omit<Session, "args">,
): void {
  if (before === null || after === null) {
    terminal.say(TEXT.usageUnknown(gateway.url));
    return;
  }
  const more = (field: "cost_usd" | "baseline_cost_usd"): string =>
    formatUsd((parseUsd(after.usage[field]) ?? 0n) - (parseUsd(before.usage[field]) ?? 0n));
  const requests = after.usage.requests - before.usage.requests;
  if (requests === 0) {
    terminal.say(TEXT.noUsage(program));
    return;
  }
  const errors = after.usage.errors - before.usage.errors;
  const { model, price } = after.baseline;
  const baseline = price === null ? model : `${model} ($${price.input} / $${price.output}, price of ${price.as_of})`;
  const costs = { cost: more("cost_usd"), baselineCost: more("baseline_cost_usd") };
  terminal.say(TEXT.usage({ requests, errors, ...costs, baseline }));
  if (gateway.isSimulated) terminal.say(TEXT.simulatedUsage);
}
