// `switchyard doctor`: every check on one line, each with what to do about it.

import { type Check, diagnose } from "../../config/doctor.ts";
import type { Arguments } from "../command/arguments.ts";
import { printJson } from "../command/command.ts";
import { BAD_CONFIGURATION, loadSettings } from "../command/settings.ts";
import { countStates, formatCheck, hasColour } from "../command/symbols.ts";
import { type Terminal, thisTerminal } from "../command/terminal.ts";
import { explainFailure, FAILED, isOn, splitFlags, UsageError } from "../command/usage.ts";
import { checkNode, liveChecks } from "./live-checks.ts";

export async function doctor(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  try {
    const { own, config } = splitFlags(args.flags, ["json", "test", "no-color"]);
    if (args.words[0] !== undefined) throw new UsageError(`'${args.words[0]}' is one word too many.`);
    const isJson = isOn(own, "json");
    const isColoured = hasColour(own, terminal);
    const loaded = loadSettings(config, terminal);
    const checks = [checkNode(process.versions.node), ...diagnose(loaded, terminal.env, terminal.now())];
    if (loaded.ok)
      checks.push(...(await liveChecks(loaded.settings, { asksProviders: isOn(own, "test"), nowMs: terminal.now() })));
    print(checks, { isJson, isColoured, terminal });
    if (!loaded.ok) return BAD_CONFIGURATION;
    return checks.some(({ state }) => state === "fail") ? FAILED : 0;
  } catch (error) {
    return explainFailure(error, "doctor", terminal);
  }
}

interface Printing {
  readonly isJson: boolean;
  readonly isColoured: boolean;
  readonly terminal: Terminal;
}

function print(checks: readonly Check[], { isJson, isColoured, terminal }: Printing): void {
  const isOk = checks.every(({ state }) => state !== "fail");
  if (isJson) {
    printJson({ ok: isOk, checks }, terminal);
    return;
  }
  terminal.out(checks.map((check) => formatCheck(check, isColoured)).join(""));
  terminal.say(`\n${summaryOf(checks)}\n`);
}

function summaryOf(checks: readonly Check[]): string {
  const { failed, warned } = countStates(checks);
  const warnings = warned === 0 ? "" : `, ${warned} to look at`;
  if (failed === 0) return `Nothing stands in the way${warnings}. Start it: switchyard serve`;
  return `${failed} to mend${warnings}.`;
}
