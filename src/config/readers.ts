// Readers of values: each takes a located value and gives a checked one, or reports what is wrong and gives undefined.
// An option, a section and an entry of a list are all read by composing these.

import { nearest } from "../catalog/nearest.ts";
import { LISTED_NAME } from "../core/requests/controls.ts";
import type { Located } from "./located.ts";
import { hostKind } from "./network.ts";
import type { Report } from "./report.ts";

export interface Reader<T> {
  /** Undefined means that a problem was reported. */
  (node: Located, report: Report): T | undefined;
  /** The words that are accepted, where they can be listed. */
  readonly words?: readonly string[];
}

interface TextRule {
  readonly test: (text: string) => boolean;
  /** Completes "expected …, got …". */
  readonly expected: string;
}

/** Text that is not empty and passes the rule. */
export function text(rule?: TextRule): Reader<string> {
  return (node, report) => {
    const isText = node.kind === "scalar" && typeof node.value === "string";
    if (!isText) return reject(node, report, rule?.expected ?? "text");
    const value = node.value as string;
    if (value === "" || rule?.test(value) === false) return reject(node, report, rule?.expected ?? "text");
    return value;
  };
}

interface NumberRule {
  readonly min: number;
  readonly max: number;
  readonly isWhole?: boolean;
}

/** Both ends of the range belong to it. */
export function number(rule: NumberRule): Reader<number> {
  const kind = rule.isWhole === true ? "a whole number" : "a number";
  const expected = `${kind} from ${rule.min} to ${rule.max}`;
  return (node, report) => {
    const value = numberOf(node);
    const isGood =
      value !== null && value >= rule.min && value <= rule.max && (rule.isWhole !== true || Number.isInteger(value));
    return isGood ? value : reject(node, report, expected);
  };
}

/** Words in any case; a word that is none of them gets the nearest one as a suggestion. */
export function oneOf<const T extends string>(words: readonly T[]): Reader<T> {
  const read = (node: Located, report: Report): T | undefined => {
    const given = node.kind === "scalar" ? String(node.value) : "";
    const found = words.find((word) => word.toLowerCase() === given.toLowerCase());
    if (found !== undefined) return found;
    return reject(node, report, `one of ${words.join(", ")}`, nearest(given, words));
  };
  return Object.assign(read, { words });
}

const TRUE_WORDS = new Set(["1", "true", "yes", "on"]);
const FALSE_WORDS = new Set(["0", "false", "no", "off"]);

/** In YAML only true and false; the words of variables and flags only where the value came as bare text. */
export const truth: Reader<boolean> = (node, report) => {
  if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
  const word = node.kind === "scalar" ? String(node.value).toLowerCase() : "";
  const isBareText = node.kind === "scalar" && node.isBareText;
  if (isBareText && TRUE_WORDS.has(word)) return true;
  if (isBareText && FALSE_WORDS.has(word)) return false;
  const meant = TRUE_WORDS.has(word) ? "true" : FALSE_WORDS.has(word) ? "false" : null;
  return reject(node, report, "true or false", meant);
};

/** Reads the same, but what was written never appears in a message. */
export function hidden<T>(reader: Reader<T>): Reader<T> {
  return (node, report) => reader(node.kind === "scalar" ? { ...node, isHidden: true } : node, report);
}

/** A list, or, where only text can be given (variables, flags), words between commas. */
export function listOf<T>(reader: Reader<T>): Reader<readonly T[]> {
  return (node, report) => {
    const items = itemsOf(node);
    if (items === null) return reject(node, report, "a list");
    return items.map((item) => reader(item, report)).filter((item) => item !== undefined);
  };
}

/** Places where a host answers. */
export const regionList = listOf(
  text({ test: (value) => LISTED_NAME.test(value), expected: "a region such as eu, de or eu-central-1" }),
);

type ShapeValues<S> = { readonly [K in keyof S]?: S[K] extends Reader<infer T> ? T : never };

/** A mapping with exactly these keys. Keys that could not be read are absent from the outcome. */
export function shape<S extends Readonly<Record<string, Reader<unknown>>>>(
  readers: S,
  required: readonly (keyof S & string)[] = [],
): Reader<ShapeValues<S>> {
  return (node, report) => {
    if (node.kind !== "mapping") return reject(node, report, "a mapping");
    checkKeys(node, Object.keys(readers), report);
    const outcome: Record<string, unknown> = {};
    for (const [key, reader] of Object.entries(readers)) {
      const entry = node.entries.get(key);
      const isWritten = entry !== undefined && entry.node.kind !== "empty";
      const value = isWritten ? reader(entry.node, report) : undefined;
      if (value !== undefined) outcome[key] = value;
      if (!isWritten && required.includes(key)) {
        report.problems.push({ place: node.place, message: `${key} is missing`, suggestion: null });
      }
    }
    return outcome as ShapeValues<S>;
  };
}

/** Reports every key of the mapping that nothing reads. */
export function checkKeys(node: Located, known: readonly string[], report: Report): void {
  if (node.kind !== "mapping") return;
  for (const [key, entry] of node.entries) {
    if (known.includes(key)) continue;
    const message = `unknown key "${key}"`;
    report.problems.push({ place: entry.keyPlace, message, suggestion: nearest(key, known) });
  }
}

/** Reports an unexpected value. A broken one was reported before and gets no second message. */
export function reject(node: Located, report: Report, expected: string, suggestion: string | null = null): undefined {
  if (node.kind === "broken") return undefined;
  const message = `expected ${expected}, got ${show(node)}`;
  report.problems.push({ place: node.place, message, suggestion });
  return undefined;
}

/** The value as a message may show it: never a secret. */
function show(node: Located): string {
  if (node.kind === "mapping") return "a mapping";
  if (node.kind === "sequence") return "a list";
  if (node.kind !== "scalar") return "nothing";
  return node.isHidden ? "something else (not shown)" : JSON.stringify(node.value);
}

/** Text counts as a number only where it came bare: in YAML, "8080" in quotes is meant as text. */
function numberOf(node: Located): number | null {
  if (node.kind !== "scalar") return null;
  if (typeof node.value === "number") return Number.isFinite(node.value) ? node.value : null;
  const isNumeric = node.isBareText && typeof node.value === "string" && /^-?\d+(\.\d+)?$/.test(node.value);
  return isNumeric ? Number(node.value) : null;
}

/** The items of a list, or the words of bare text between commas; null for anything else. */
function itemsOf(node: Located): readonly Located[] | null {
  if (node.kind === "sequence") return node.items;
  if (node.kind !== "scalar" || !node.isBareText) return null;
  const words = String(node.value).split(",");
  return words.map((word) => ({ ...node, value: word.trim() })).filter((item) => item.value !== "");
}

const WORKERS_MAX = 256;

/** A number of workers, or the least and the most, such as `1-8`. */
export type WorkerCount = number | "auto" | `${number}-${number}`;

export function workerCount(node: Located, report: Report): WorkerCount | undefined {
  const text = node.kind === "scalar" ? String(node.value).toLowerCase() : "";
  if (text === "auto") return "auto";
  const [, least = text, most = least] = /^(\d+)-(\d+)$/.exec(text) ?? [];
  const isCount = (value: number): boolean => value >= 1 && value <= WORKERS_MAX && Number.isInteger(value);
  if (least === "" || !isCount(Number(least)) || !isCount(Number(most)) || Number(least) > Number(most))
    return reject(node, report, `auto, a whole number from 1 to ${WORKERS_MAX}, or two as in 1-8`);
  return least === most ? Number(least) : `${Number(least)}-${Number(most)}`;
}

/** `sqlite:PATH` or a PostgreSQL address. Never shown, since it may hold a password. */
export const databaseUrl: Reader<string> = hidden(
  text({
    test: (value) => /^sqlite:./.test(value) || (/^postgres(ql)?:\/\//.test(value) && URL.canParse(value)),
    expected: "sqlite:PATH or postgres://user:password@host/database",
  }),
);

/** Never shown, for the same reason. */
export const redisUrl: Reader<string> = hidden(
  text({
    test: (value) => /^rediss?:\/\//.test(value) && URL.canParse(value),
    expected: "redis://host:port or rediss://host:port",
  }),
);

/** An origin exactly as browsers send it, or `*`. */
/** A header's name, in lower case as requests are read. */
export function headerName(node: Located, report: Report): string | undefined {
  return text({ test: (value) => /^[\w-]{1,100}$/.test(value), expected: "the name of a header" })(
    node,
    report,
  )?.toLowerCase();
}

export const corsOrigin: Reader<string> = text({
  test: (value) => value === "*" || (URL.canParse(value) && new URL(value).origin === value),
  expected: "an origin such as https://app.example.com, without a path",
});

/** Below this many characters, a token can be guessed at the rate at which a server answers. */
const TOKEN_MIN_LENGTH = 16;

export function adminToken(node: Located, report: Report): string | undefined {
  return unguessable("admin token", node, report);
}

export function secretText(node: Located, report: Report): string | undefined {
  return unguessable("secret", node, report);
}

function unguessable(what: string, node: Located, report: Report): string | undefined {
  const value = text({ test: (token) => !/\s/.test(token), expected: "text without spaces" })(node, report);
  if (value !== undefined && value.length < TOKEN_MIN_LENGTH) {
    const message = `the ${what} has fewer than ${TOKEN_MIN_LENGTH} characters and can be guessed; make one with: openssl rand -hex 32`;
    report.warnings.push({ place: node.place, message, suggestion: null });
  }
  return value;
}

/** The origin of an http address, as links begin with it. The dashboard is served at the root, so there is no path. */
export function publicUrl(node: Located, report: Report): string | undefined {
  const expected = "an http or https address without a path, such as https://llm.example.com";
  const value = text({ test: URL.canParse, expected })(node, report);
  if (value === undefined) return undefined;
  const { origin, protocol, href } = new URL(value);
  const isOrigin = /^https?:$/.test(protocol) && href === `${origin}/`;
  return isOrigin ? origin : reject(node, report, expected);
}

/** A name without a port, in lower case, or `*`. */
export function hostName(node: Located, report: Report): string | undefined {
  const expected = "a host name without a port, such as llm.example.com, or *";
  const isName = (value: string): boolean => value === "*" || /^[\w-]+(\.[\w-]+)*$/.test(value);
  return text({ test: isName, expected })(node, report)?.toLowerCase();
}

/** A domain of e-mail addresses, in lower case. */
export function domainName(node: Located, report: Report): string | undefined {
  const isDomain = (value: string): boolean => /^[\w-]+(\.[\w-]+)+$/.test(value);
  return text({ test: isDomain, expected: "a domain such as example.com" })(node, report)?.toLowerCase();
}

/** Entra's issuers for every company at once: a token of any of them would pass. */
const SHARED_TENANTS = /^\/(common|organizations|consumers)(\/|$)/;

/** The address of an issuer, as its tokens have it. Plain http is for this machine alone. */
export function issuerUrl(node: Located, report: Report): string | undefined {
  const expected = "the https address of an issuer, such as https://acme.okta.com";
  const value = text({ test: URL.canParse, expected })(node, report);
  if (value === undefined) return undefined;
  const { protocol, hostname, pathname, search, hash, username } = new URL(value);
  const isLocal = protocol === "http:" && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  if ((protocol !== "https:" && !isLocal) || search !== "" || hash !== "" || username !== "") {
    return reject(node, report, expected);
  }
  if (hostname !== "login.microsoftonline.com" || !SHARED_TENANTS.test(pathname)) return value;
  return reject(node, report, "the issuer of one tenant: https://login.microsoftonline.com/TENANT_ID/v2.0");
}

/**
 * A provider's address, without the slash at its end. Credentials in it would end up in logs, and the path of
 * an endpoint would be appended twice. Both are rejected with what to write instead.
 */
export function baseUrl(node: Located, report: Report): string | undefined {
  const value = text({ test: URL.canParse, expected: "an http or https address" })(node, report);
  if (value === undefined) return undefined;
  const url = new URL(value);
  if (url.username !== "" || url.password !== "") {
    const message = "the address must not hold a user name or password; use apiKey or headers";
    report.problems.push({ place: node.place, message, suggestion: null });
    return undefined;
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return reject(node, report, "an http or https address");
  if (hostKind(url.hostname) === "forbidden") {
    const message = `${url.hostname} is an address the gateway never calls (unspecified, link-local, metadata or reserved)`;
    report.problems.push({ place: node.place, message, suggestion: loopbackOf(url) });
    return undefined;
  }
  if (url.search !== "" || url.hash !== "") return reject(node, report, "an address without ? and #");
  const trimmed = value.replace(/\/+$/, "");
  const endpoint = /\/(chat\/completions|messages)$/.exec(trimmed);
  if (endpoint === null) return trimmed;
  return reject(node, report, "the address before the endpoint's path", trimmed.slice(0, endpoint.index));
}

/** Servers print 0.0.0.0 as the address they listen on. What is meant is this machine. */
function loopbackOf(url: URL): string | null {
  if (url.hostname !== "0.0.0.0" && url.hostname !== "[::]") return null;
  const meant = new URL(url);
  meant.hostname = "127.0.0.1";
  return meant.href.replace(/\/+$/, "");
}

/** Parts per million in one. */
const PPM = 1_000_000;

/** A fraction such as 0.05, in parts per million: whole, so that no money is counted in floating point. */
export function markupPpm(node: Located, report: Report): number | undefined {
  const fraction = number({ min: 0, max: 10 })(node, report);
  if (fraction === undefined) return undefined;
  const ppm = Math.round(fraction * PPM);
  const isExact = Math.abs(ppm - fraction * PPM) < 1e-6;
  return isExact ? ppm : reject(node, report, "a fraction of at most six decimals");
}
