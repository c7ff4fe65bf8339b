// `switchyard login`: a token of the gateway's identity provider for a program on this machine, by the device flow. It
// prints the token alone, so that it can be an `apiKeyHelper`. A token that lasts is printed again without asking.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Configuration, TokenEndpointResponse } from "openid-client";
import { openableUrl } from "../../config/network.ts";
import { command } from "../../config/package.ts";
import type { Arguments } from "../command/arguments.ts";
import { type Parsed, runCommand } from "../command/command.ts";
import { gatewayUrl, splitFlags, textOf } from "../command/flags.ts";
import { type Terminal, thisTerminal } from "../command/terminal.ts";
import * as TEXT from "../command/text.ts";
import { FAILED, reasonOf, UsageError } from "../command/usage.ts";

interface LoginOptions {
  /** Address of the gateway; null for the one of the configuration. */
  readonly url: string | null;
  /** Id of the identity provider; null where there is only one. */
  readonly provider: string | null;
}

/** An identity provider as the gateway describes it. */
interface Described {
  readonly id: string;
  readonly name: string;
  readonly issuer: string;
  readonly deviceClientId: string | null;
  readonly scopes: readonly string[];
  readonly audiences: readonly string[];
}

/** A token of an earlier call. */
interface KeptToken {
  readonly token: string;
  readonly expiresAtMs: number;
  readonly refreshToken: string | null;
  /** The issuer that gave them. No other may see the refresh token, whatever the gateway says. */
  readonly issuer?: string;
}

/** A token that ends sooner is renewed, so that a program can use it for a while. */
const LASTS_MS = 120_000;

export function login(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "login", terminal, callsNobody: true, parse: () => parseLogin(args) },
    run: ({ url, provider }, { server }) => {
      const gateway = url ?? gatewayUrl(server.publicUrl ?? openableUrl(server));
      return printToken({ gateway, provider, terminal });
    },
  });
}

function parseLogin({ words, flags }: Arguments): Parsed<LoginOptions> {
  if (words[0] !== undefined) throw new UsageError(TEXT.unexpectedArgument(words[0]));
  const { own, config } = splitFlags(flags, ["url", "provider", "no-color"]);
  const url = textOf(own, "url");
  return { options: { url: url === null ? null : gatewayUrl(url), provider: textOf(own, "provider") }, config };
}

interface WantedToken {
  readonly gateway: string;
  readonly provider: string | null;
  readonly terminal: Terminal;
}

/** The token of an earlier `switchyard login`, renewed where it has ended; null without one. Nobody is asked to sign in. */
export function keptToken(gateway: string, terminal: Terminal): Promise<string | null> {
  const quiet: Terminal = { ...terminal, ask: null, say: () => undefined };
  return tokenOf({ gateway, provider: null, terminal: quiet });
}

async function printToken(wanted: WantedToken): Promise<number> {
  const token = await tokenOf(wanted);
  if (token === null) return FAILED;
  wanted.terminal.out(`${token}\n`);
  return 0;
}

/** Returns null where there is none; the terminal was told why. */
async function tokenOf({ gateway, provider, terminal }: WantedToken): Promise<string | null> {
  const store = openTokens(terminal, `${gateway} ${provider ?? ""}`);
  const kept = store.read();
  if (kept !== null && kept.expiresAtMs - LASTS_MS > terminal.now()) return kept.token;
  const found = await describedBy(gateway, provider);
  if (typeof found === "string") {
    terminal.say(found);
    return null;
  }
  try {
    const configuration = await discover(found);
    const ours = kept?.issuer === found.issuer ? kept : null;
    const response = (await renewed(configuration, ours)) ?? (await signedIn(configuration, { found, terminal }));
    if (response === null) return null;
    const token = usable(response, found.audiences);
    if (token === null) {
      terminal.say(TEXT.noUsableToken(found.name, found.audiences.join(", ")));
      return null;
    }
    const refreshToken = response.refresh_token ?? ours?.refreshToken ?? null;
    const expiresAtMs = Number(claimsOf(token)?.exp ?? 0) * 1000;
    store.write({ token, expiresAtMs, refreshToken, issuer: found.issuer });
    return token;
  } catch (error) {
    terminal.say(TEXT.loginFailed(found.name, reasonOf(error)));
    return null;
  }
}

/** The identity provider to use, or a sentence that says why there is none. */
async function describedBy(gateway: string, id: string | null): Promise<Described | string> {
  let known: readonly Described[];
  try {
    const response = await fetch(`${gateway}/api/sign-in`, { headers: { accept: "application/json" } });
    known = ((await response.json()) as { data: readonly Described[] }).data;
  } catch (error) {
    return TEXT.noGateway(gateway, reasonOf(error));
  }
  const fitting = known.filter(({ audiences, deviceClientId }) => audiences.length > 0 && deviceClientId !== null);
  const chosen = fitting.filter((each) => id === null || each.id === id);
  if (chosen.length === 1 && chosen[0] !== undefined) return chosen[0];
  const names = fitting.map((each) => each.id).join(", ");
  return fitting.length === 0 ? TEXT.noTokensHere(gateway) : TEXT.chooseProvider(names);
}

async function discover({ issuer, deviceClientId }: Described): Promise<Configuration> {
  const client = await import("openid-client");
  const isPlain = new URL(issuer).protocol === "http:";
  return client.discovery(new URL(issuer), deviceClientId ?? "", undefined, client.None(), {
    execute: isPlain ? [client.allowInsecureRequests] : [],
  });
}

/** Returns null where there is no refresh token, or it has ended. */
async function renewed(configuration: Configuration, kept: KeptToken | null): Promise<TokenEndpointResponse | null> {
  if (kept?.refreshToken == null) return null;
  const { refreshTokenGrant } = await import("openid-client");
  return refreshTokenGrant(configuration, kept.refreshToken).catch(() => null);
}

/** Asks a person to open a page. Null where nobody is there: a helper of another program must not wait for one. */
async function signedIn(
  configuration: Configuration,
  { found, terminal }: { readonly found: Described; readonly terminal: Terminal },
): Promise<TokenEndpointResponse | null> {
  if (terminal.ask === null) {
    terminal.say(TEXT.loginFirst(command("login")));
    return null;
  }
  const { initiateDeviceAuthorization, pollDeviceAuthorizationGrant } = await import("openid-client");
  const isOffered = configuration.serverMetadata().scopes_supported?.includes("offline_access") === true;
  const scopes = new Set([...found.scopes, ...(isOffered ? ["offline_access"] : [])]);
  const begun = await initiateDeviceAuthorization(configuration, { scope: [...scopes].join(" ") });
  terminal.say(TEXT.openThisPage(begun.verification_uri_complete ?? begun.verification_uri, begun.user_code));
  return pollDeviceAuthorizationGrant(configuration, begun);
}

/** The access token where it is for the gateway, else the ID token. */
function usable({ access_token: access, id_token: id }: TokenEndpointResponse, audiences: readonly string[]) {
  const isForUs = (token: string): boolean => [claimsOf(token)?.aud].flat().some((aud) => audiences.includes(`${aud}`));
  return [access, id].find((token) => token !== undefined && isForUs(token)) ?? null;
}

/** The claims of a token, unchecked; null for a text of another form. */
function claimsOf(token: string): Record<string, unknown> | null {
  try {
    return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8")) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** Tokens of earlier calls, in a file that only its user can read. */
function openTokens({ env }: Terminal, name: string) {
  const base = env.XDG_CONFIG_HOME ?? join(env.HOME ?? env.USERPROFILE ?? ".", ".config");
  const path = join(base, "switchyard", "tokens.json");
  const readAll = (): Record<string, KeptToken> => {
    try {
      return JSON.parse(readFileSync(path, "utf8")) as Record<string, KeptToken>;
    } catch {
      return {};
    }
  };
  return {
    read: (): KeptToken | null => readAll()[name] ?? null,
    write: (kept: KeptToken): void => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, `${JSON.stringify({ ...readAll(), [name]: kept }, null, 2)}\n`, { mode: 0o600 });
    },
  };
}
