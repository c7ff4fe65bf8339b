// Passwords: which are strong enough, how they are stored and compared. scrypt runs off the event loop, a few at a time,
// because its threads also look up the host names of providers.

import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { availableParallelism } from "node:os";
import { GatewayError } from "../core/errors.ts";
import { hasPassword, NO_PASSWORD } from "../core/people.ts";

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Without a stored hash it takes as long and returns false, so that nobody learns which users exist. */
  isRight(password: string, stored: string | null): Promise<boolean>;
}

/** The parameters of scrypt. */
export interface PasswordCost {
  readonly n: number;
  readonly r: number;
  readonly p: number;
}

/** 32 MB and about a quarter of a second. Stored with each hash, so that it can be raised later. */
const COST: PasswordCost = { n: 2 ** 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** One processor is left for requests. */
const RUNNING_MAX = Math.max(1, Math.min(2, availableParallelism() - 1));
const WAITING_MAX = 100;

export function createPasswords(cost: PasswordCost = COST): Passwords {
  const takeTurn = createTurns();
  /** Compared when there is no such user. */
  const decoy = writeHash(cost, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));
  return {
    hash: async (password) => {
      const salt = randomBytes(SALT_BYTES);
      return writeHash(cost, salt, await takeTurn(() => derive(password, salt, cost)));
    },
    isRight: async (password, stored) => {
      const isSet = stored !== null && hasPassword(stored);
      const { salt, hash, ...kept } = readHash(isSet ? stored : decoy);
      const derived = await takeTurn(() => derive(password, salt, kept));
      return timingSafeEqual(derived, hash) && isSet;
    },
  };
}

/** Text that is stored for a user without one. Random, because tokens of known devices are signed with it. */
export function noPassword(): string {
  return `${NO_PASSWORD}${randomBytes(HASH_BYTES).toString("base64url")}`;
}

function derive(password: string, salt: Buffer, { n, r, p }: PasswordCost): Promise<Buffer> {
  const options: ScryptOptions = { N: n, r, p, maxmem: 256 * n * r };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFKC"), salt, HASH_BYTES, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

function writeHash({ n, r, p }: PasswordCost, salt: Buffer, hash: Buffer): string {
  return ["scrypt", n, r, p, salt.toString("base64url"), hash.toString("base64url")].join("$");
}

function readHash(text: string): PasswordCost & { readonly salt: Buffer; readonly hash: Buffer } {
  const [, n, r, p, salt = "", hash = ""] = text.split("$");
  return {
    n: Number(n),
    r: Number(r),
    p: Number(p),
    salt: Buffer.from(salt, "base64url"),
    hash: Buffer.from(hash, "base64url"),
  };
}

/** Runs a few at a time and lets a limited number wait. */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= RUNNING_MAX) {
      if (waiting.length >= WAITING_MAX) {
        throw new GatewayError("unavailable", "Too many sign-ins at this moment.", { retryAfterSeconds: 5 });
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      // The place goes to the next that waits, if there is one.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

const LENGTH_MIN = 12;
const LENGTH_MAX = 1024;
const DISTINCT_MIN = 5;
/** Passwords that people choose when twelve characters are required. */
const COMMON =
  /^(?:passwor[dt]|pa[s$]{2}w[o0]rd|qwert[yz]|asdf|admin|administrator|letmein|welcome|iloveyou|changeme|switchyard|secret|dashboard|operator|12345678?9?0?|abc|monkey|dragon|football|baseball|sunshine|princess|trustno1|uiop|hjkl)+[\d!@#$%^&*._-]*$/i;
const RUNS = [
  "abcdefghijklmnopqrstuvwxyz",
  "01234567890123456789",
  "qwertyuiopasdfghjklzxcvbnm",
  "qwertzuiopasdfghjklyxcvbnm",
];

/** Throws when it is too easy to guess. */
export function checkPassword(password: string, email: string, param: string): void {
  const length = [...password].length;
  const folded = password.toLowerCase();
  const name = email.split("@", 1)[0] as string;
  ensure(length >= LENGTH_MIN, param, `Use at least ${LENGTH_MIN} characters.`);
  ensure(length <= LENGTH_MAX, param, `Use at most ${LENGTH_MAX} characters.`);
  const isCommon = COMMON.test(password) || RUNS.some((run) => run.includes(folded) || reversed(run).includes(folded));
  const isMonotonous = new Set(folded).size < DISTINCT_MIN;
  ensure(!isCommon && !isMonotonous, param, "This password is too common. Choose another.");
  const isName = folded === email || (name.length > 3 && folded.replaceAll(name, "").length < LENGTH_MIN / 2);
  ensure(!isName, param, "The password must not contain your e-mail address.");
}

function reversed(text: string): string {
  return [...text].reverse().join("");
}

function ensure(isMet: boolean, param: string, message: string): void {
  if (!isMet) throw new GatewayError("badRequest", message, { code: "weak_password", param });
}
