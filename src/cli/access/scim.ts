// `switchyard scim`: tokens of an organisation's identity provider. The command works directly on the store.

import { DEFAULT_ACCOUNT } from "../../accounts/accounts.ts";
import { createScimTokens } from "../../accounts/identity/scim-tokens.ts";
import { command } from "../../config/package.ts";
import { writeToken } from "../../http/api/people/scim-tokens.ts";
import { createScimTokenStore } from "../../store/accounts/scim-tokens.ts";
import type { Arguments } from "../command/arguments.ts";
import { type Parsed, parseSubcommand, printJson, runCommand } from "../command/command.ts";
import { isOn, splitFlags, textOf } from "../command/flags.ts";
import { type CommandStore, withStore } from "../command/store.ts";
import { formatTable } from "../command/table.ts";
import { type Terminal, thisTerminal } from "../command/terminal.ts";
import { FAILED, UsageError } from "../command/usage.ts";

const SUBCOMMANDS = { list: 0, create: 1, revoke: 1 };
/** Far above any real number of tokens; the list is printed whole. */
const TOKENS_MAX = 1_000;

interface ScimOptions {
  readonly kind: keyof typeof SUBCOMMANDS;
  /** The name of a new token, or the id of one. */
  readonly word: string;
  readonly account: string;
  readonly isJson: boolean;
}

export function scim(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "scim", terminal, callsNobody: true, parse: () => parseScim(args) },
    run: (options, { database }) => withStore(database, (store) => run(options, store, terminal)),
  });
}

function parseScim({ words, flags }: Arguments): Parsed<ScimOptions> {
  const [kind, word] = parseSubcommand(words, "scim", SUBCOMMANDS);
  const { own, config } = splitFlags(flags, ["account", "json", "no-color"]);
  if (kind !== "list" && word === undefined) {
    throw new UsageError(kind === "create" ? "scim create needs a name." : "scim revoke needs the id of a token.");
  }
  const account = textOf(own, "account") ?? DEFAULT_ACCOUNT;
  return { options: { kind, word: word ?? "", account, isJson: isOn(own, "json") }, config };
}

async function run({ kind, word, account, isJson }: ScimOptions, store: CommandStore, terminal: Terminal) {
  const tokens = createScimTokens({ store: createScimTokenStore(store.db) });
  await store.requireAccount(account, terminal.now());
  if (kind === "create") {
    const { token, text } = await tokens.create({ accountId: account, name: word, reachesOperators: true });
    if (isJson) printJson({ ...writeToken(token), token: text }, terminal);
    else {
      terminal.say("Give this token to the identity provider, with the address of the gateway and /scim/v2.\n");
      terminal.out(`${text}\n`);
    }
    return 0;
  }
  if (kind === "revoke") {
    if (await tokens.revoke(account, word)) return 0;
    terminal.say(`The account has no token '${word}'. See: ${command("scim list")}\n`);
    return FAILED;
  }
  const found = (await tokens.list(account, { limit: TOKENS_MAX, after: null })).map(writeToken);
  if (isJson) printJson({ data: found }, terminal);
  else if (found.length > 0) {
    terminal.out(formatTable([HEADINGS, ...found.map((each) => [each.id, each.name, each.lastUsedAt ?? "-"])]));
  } else terminal.say(`No tokens yet: ${command("scim create NAME")}\n`);
  return 0;
}

const HEADINGS = ["ID", "NAME", "LAST USE"];
