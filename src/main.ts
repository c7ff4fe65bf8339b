// The entry point: argv to command. A command's code is loaded only when it is called, so that small ones start quickly.

import { nearest } from "./catalog/nearest.ts";
import { type Arguments, readArguments } from "./cli/command/arguments.ts";
import { command } from "./config/package.ts";

/** Runs to completion. The exit code: 0 fine, 1 failed, 2 wrong usage, 78 bad configuration. */
type CommandFunction = (args: Arguments) => Promise<number>;

/** Every command; `switchyard help` lists them in this order. */
export const COMMANDS: Readonly<Record<string, () => Promise<CommandFunction>>> = {
  serve: async () => (await import("./cli/serve.ts")).serve,
  run: async () => (await import("./cli/run/run.ts")).run,
  import: async () => (await import("./cli/import/import.ts")).importConfiguration,
  apply: async () => (await import("./cli/state/apply.ts")).apply,
  keys: async () => (await import("./cli/keys.ts")).keys,
  profiles: async () => (await import("./cli/profiles.ts")).profiles,
  providers: async () => (await import("./cli/providers.ts")).providers,
  chains: async () => (await import("./cli/versions.ts")).chains,
  versions: async () => (await import("./cli/versions.ts")).versions,
  settings: async () => (await import("./cli/settings.ts")).settings,
  models: async () => (await import("./cli/models.ts")).models,
  route: async () => (await import("./cli/route.ts")).route,
  users: async () => (await import("./cli/access/users.ts")).users,
  teams: async () => (await import("./cli/access/teams.ts")).teams,
  members: async () => (await import("./cli/access/members.ts")).members,
  scim: async () => (await import("./cli/access/scim.ts")).scim,
  audit: async () => (await import("./cli/access/audit.ts")).audit,
  login: async () => (await import("./cli/access/login.ts")).login,
  credits: async () => (await import("./cli/credits.ts")).credits,
  ledger: async () => (await import("./cli/ledger.ts")).ledger,
  backup: async () => (await import("./cli/backup.ts")).backup,
  restore: async () => (await import("./cli/backup.ts")).restore,
  secret: async () => (await import("./cli/secret.ts")).secret,
  demo: async () => (await import("./cli/demo.ts")).demo,
  migrate: async () => (await import("./cli/migrate.ts")).migrate,
  doctor: async () => (await import("./cli/doctor/doctor.ts")).doctor,
  version: async () => (await import("./cli/help/help.ts")).version,
  help: async () => (await import("./cli/help/help.ts")).help,
};

/** Called by bin/switchyard.mjs. */
export async function main(argv: readonly string[]): Promise<void> {
  const args = readArguments(argv);
  const name = args.flags.help !== undefined ? "help" : args.flags.version !== undefined ? "version" : args.command;
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load === undefined) {
    const meant = (await onlyCommandWith(name)) ?? nearest(name, Object.keys(COMMANDS));
    process.stderr.write(
      `There is no command '${name}'.${meant === null ? "" : ` Did you mean '${meant}'?`} See: ${command("help")}\n`,
    );
    process.exitCode = 2;
    return;
  }
  process.exitCode = await (await load())(args);
}

/** For a subcommand that was written alone, such as `verify`. Null where several commands have it. */
async function onlyCommandWith(subcommand: string): Promise<string | null> {
  const { PAGES } = await import("./cli/help/pages.ts");
  const names = Object.entries(PAGES).flatMap(([name, { tables }]) => {
    const rows = tables.find(([title]) => title === "Subcommands")?.[1] ?? [];
    return rows.some(([shown = ""]) => shown.split(" ")[0] === subcommand) ? [`${name} ${subcommand}`] : [];
  });
  return names.length === 1 ? (names[0] ?? null) : null;
}
