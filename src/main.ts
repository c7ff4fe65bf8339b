// argv to command. Each command is loaded only when it is asked for, so that a small one starts quickly.

import { nearest } from "./catalog/nearest.ts";
import { type Arguments, readArguments } from "./cli/command/arguments.ts";

/** Runs to completion and answers with the exit code: 0 fine, 1 failed, 2 wrong usage, 78 bad configuration. */
type Command = (args: Arguments) => Promise<number>;

export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import("./cli/serve.ts")).serve,
  keys: async () => (await import("./cli/keys/keys.ts")).keys,
  profiles: async () => (await import("./cli/profiles/profiles.ts")).profiles,
  models: async () => (await import("./cli/models/models.ts")).models,
  route: async () => (await import("./cli/route.ts")).route,
  users: async () => (await import("./cli/users.ts")).users,
  credits: async () => (await import("./cli/credits.ts")).credits,
  ledger: async () => (await import("./cli/ledger.ts")).ledger,
  demo: async () => (await import("./cli/demo.ts")).demo,
  migrate: async () => (await import("./cli/migrate.ts")).migrate,
  doctor: async () => (await import("./cli/doctor/doctor.ts")).doctor,
  version: async () => (await import("./cli/help/help.ts")).version,
  help: async () => (await import("./cli/help/help.ts")).help,
};

export async function main(argv: readonly string[]): Promise<void> {
  const args = readArguments(argv);
  const name = args.flags.help !== undefined ? "help" : args.flags.version !== undefined ? "version" : args.command;
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load === undefined) {
    const meant = nearest(name, Object.keys(COMMANDS));
    process.stderr.write(
      `There is no command '${name}'.${meant === null ? "" : ` Did you mean '${meant}'?`} See: switchyard help\n`,
    );
    process.exitCode = 2;
    return;
  }
  process.exitCode = await (await load())(args);
}
