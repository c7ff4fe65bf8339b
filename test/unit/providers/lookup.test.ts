// Names are judged by every address they lead to, before one is dialled.

import type { lookup } from "node:dns";
import { describe, expect, it } from "vitest";
import { guardedLookup } from "../../../src/providers/lookup.ts";

const resolver = (...addresses: string[]): typeof lookup =>
  ((_name: string, _options: object, callback: (error: null, found: object[]) => void) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    )) as unknown as typeof lookup;

/** What a connection would be given. */
function look(addresses: readonly string[], allowsPrivate: boolean, all = true): Promise<unknown> {
  const guarded = guardedLookup(allowsPrivate, resolver(...addresses));
  return new Promise((resolve, reject) => {
    guarded("models.example", { all }, (error, found) => (error === null ? resolve(found) : reject(error)));
  });
}

describe("a name", () => {
  it("that leads to public addresses is connected to, one or all", async () => {
    expect(await look(["1.1.1.1", "2606:4700::1111"], false)).toEqual([
      { address: "1.1.1.1", family: 4 },
      { address: "2606:4700::1111", family: 6 },
    ]);
    expect(await look(["1.1.1.1"], false, false)).toBe("1.1.1.1");
  });

  it("that leads home is connected to only where that is allowed", async () => {
    expect(await look(["127.0.0.1"], true, false)).toBe("127.0.0.1");
    await expect(look(["127.0.0.1"], false)).rejects.toMatchObject({ code: "EADDRFORBIDDEN" });
    await expect(look(["10.0.0.1"], false)).rejects.toThrow(/models\.example leads to 10\.0\.0\.1.*private/);
  });

  it.each([true, false])(
    "that leads to a metadata service is not, also not beside a good one",
    async (allowsPrivate) => {
      await expect(look(["1.1.1.1", "169.254.169.254"], allowsPrivate)).rejects.toThrow(/never called/);
      await expect(look(["::ffff:169.254.169.254"], allowsPrivate)).rejects.toThrow(/never called/);
      await expect(look(["0.0.0.0"], allowsPrivate)).rejects.toThrow(/never called/);
      await expect(look(["::"], allowsPrivate)).rejects.toThrow(/never called/);
    },
  );

  it("that leads nowhere is an error", async () => {
    await expect(look([], true)).rejects.toThrow(/no address/);
  });
});
