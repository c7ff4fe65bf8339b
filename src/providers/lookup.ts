// Looks up a provider's name and judges every address it has before any of them is dialled: what was checked is what is
// connected to, so a name that changes its mind in between gains nothing.

import { type LookupAddress, lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { addressKind } from "../config/network.ts";

/** Error with a code that says that no connection was made. */
class ForbiddenAddress extends Error {
  readonly code = "EADDRFORBIDDEN";
}

type Resolve = typeof lookup;

/** `allowsPrivate`: the operator wrote the address, so that it may well be one of their own network. */
export function guardedLookup(allowsPrivate: boolean, resolve: Resolve = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const problem = error ?? problemWith(hostname, addresses, allowsPrivate);
      const [first] = addresses ?? [];
      if (problem !== null || first === undefined) callback(problem ?? new Error(`${hostname} has no address`), "", 0);
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

function problemWith(
  hostname: string,
  addresses: readonly LookupAddress[],
  allowsPrivate: boolean,
): ForbiddenAddress | null {
  for (const { address } of addresses) {
    const kind = addressKind(address);
    if (kind === "public" || (kind === "private" && allowsPrivate)) continue;
    const why = kind === "private" ? "an address of a private network" : "an address that is never called";
    return new ForbiddenAddress(`${hostname} leads to ${address}, ${why}`);
  }
  return null;
}
