// `switchyard users`: who may sign in to the dashboard, and a link for somebody who forgot the password.
// The command works directly on the store, so it also helps the last administrator back in.

import { createPasswords } from "../../accounts/passwords.ts";
import { createResets } from "../../accounts/resets.ts";
import { openableUrl } from "../../config/network.ts";
import { command } from "../../config/package.ts";
import type { Settings } from "../../config/settings.ts";
import type { Db } from "../../core/db.ts";
import type { User } from "../../core/people.ts";
import { writeUser } from "../../http/api/people/users.ts";
import { createPasswordResetStore } from "../../store/accounts/resets.ts";
import { createUserStore } from "../../store/accounts/users.ts";
import type { Arguments } from "../command/arguments.ts";
import { type Parsed, parseSubcommand, printJson, runCommand } from "../command/command.ts";
import { isOn, splitFlags, textOf } from "../command/flags.ts";
import { withStore } from "../command/store.ts";
import { formatTable } from "../command/table.ts";
import { type Terminal, thisTerminal } from "../command/terminal.ts";
import * as TEXT from "../command/text.ts";
import { FAILED, UsageError } from "../command/usage.ts";

/** Most words after each subcommand. */
const SUBCOMMANDS = { list: 0, reset: 1 };
/** Far above any real number of users; the list is printed whole. */
const USERS_MAX = 10_000;

interface UserOptions {
  readonly kind: keyof typeof SUBCOMMANDS;
  readonly email: string | null;
  /** Address at which people reach the gateway; null for the configured one, or the one it listens on. */
  readonly url: string | null;
  readonly isJson: boolean;
}

/** Lists users, or makes a link for a new password. */
export function users(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "users", terminal, callsNobody: true, parse: () => parseUsers(args) },
    run: (options, settings) =>
      withStore(settings.database, ({ db }) =>
        options.kind === "list" ? list(options, db, terminal) : reset(options, { db, settings, terminal }),
      ),
  });
}

function parseUsers({ words, flags }: Arguments): Parsed<UserOptions> {
  const [kind, email] = parseSubcommand(words, "users", SUBCOMMANDS);
  const { own, config } = splitFlags(flags, [...(kind === "reset" ? ["url"] : []), "json", "no-color"]);
  if (kind === "reset" && email === undefined) throw new UsageError(TEXT.needsEmail);
  const url = parseUrl(textOf(own, "url"));
  return { options: { kind, email: email ?? null, url, isJson: isOn(own, "json") }, config };
}

export function parseUrl(text: string | null): string | null {
  if (text === null || (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol))) return text;
  throw new UsageError(TEXT.wrongUrl(text));
}

async function list({ isJson }: UserOptions, db: Db, terminal: Terminal): Promise<number> {
  const found = await createUserStore(db).list({ limit: USERS_MAX, after: null });
  if (isJson) printJson({ data: found.map(writeUser) }, terminal);
  else if (found.length > 0) {
    terminal.out(formatTable([HEADINGS, ...found.map(rowOf)]));
    terminal.say(TEXT.forgotPassword(command("users reset EMAIL")));
  } else terminal.say(TEXT.noUsers(command("serve")));
  return 0;
}

const HEADINGS = ["ID", "E-MAIL", "ROLE", "ACCOUNT", "LAST SIGN-IN"];

function rowOf({ id, email, role, accountId, lastSignInAtMs }: User): readonly string[] {
  const seen = lastSignInAtMs === null ? "-" : `${new Date(lastSignInAtMs).toISOString().slice(0, 16)}Z`;
  return [id, email, role, accountId, seen.replace("T", " ")];
}

/** A page of the dashboard, at the address that was given, configured, or listened on. */
export function linkTo(page: string, url: string | null, { server }: Settings): string {
  return `${(url ?? server.publicUrl ?? openableUrl(server)).replace(/\/+$/, "")}/#/${page}`;
}

interface ResetContext {
  readonly db: Db;
  readonly settings: Settings;
  readonly terminal: Terminal;
}

/** Makes a link that works once, for a day. */
async function reset({ email, url, isJson }: UserOptions, { db, settings, terminal }: ResetContext): Promise<number> {
  const store = createPasswordResetStore(db);
  const resets = createResets({ store, users: createUserStore(db), passwords: createPasswords() });
  const made = await resets.makeFor({ email: email ?? "" });
  if (made === null) {
    terminal.say(TEXT.noUser(email, command("users list")));
    return FAILED;
  }
  const link = linkTo(`reset?token=${made.token}`, url, settings);
  const expiresAt = new Date(made.expiresAtMs).toISOString();
  if (isJson) {
    printJson({ email: made.user.email, link, expiresAt }, terminal);
    return 0;
  }
  terminal.say(TEXT.resetLink(made.user.email));
  terminal.out(`${link}\n`);
  return 0;
}
