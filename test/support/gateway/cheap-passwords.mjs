// @ts-check
// Loaded into a gateway's processes before anything else: passwords cost next to nothing to compute, for tests that make
// many and have no time.

import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

const { scrypt } = crypto;
const CHEAP = { N: 2, r: 1, p: 1 };

crypto.scrypt = /** @type {typeof scrypt} */ (
  (
    /** @type {string} */ password,
    /** @type {Buffer} */ salt,
    /** @type {number} */ length,
    /** @type {object} */ _options,
    /** @type {(error: Error | null, key: Buffer) => void} */ done,
  ) => scrypt(password, salt, length, CHEAP, done)
);
syncBuiltinESMExports();
