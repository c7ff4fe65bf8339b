// What `keys` was asked for, and what it refuses before opening anything.

import { describe, expect, test } from "vitest";
import { readArguments } from "../../../../src/cli/command/arguments.ts";
import { UsageError } from "../../../../src/cli/command/usage.ts";
import { readKeyOrder } from "../../../../src/cli/keys/arguments.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");

const read = (...argv: string[]) => readKeyOrder(readArguments(["keys", ...argv]), NOW);

test("create with everything, apart from the configuration's flags", () => {
  const flags = [
    "--name",
    " app ",
    "--profile",
    "p1",
    "--rpm",
    "60",
    "--expires",
    "1h",
    "--account",
    "a1",
    "--json",
    "--spend-limit",
    "2.5",
  ];
  expect(read("create", ...flags, "--database", "sqlite:/tmp/x.db")).toEqual({
    order: {
      kind: "create",
      name: "app",
      profileId: "p1",
      requestsPerMinute: 60,
      spendLimitNano: 2_500_000_000n,
      spendReset: "never",
      expiresAtMs: NOW + 3_600_000,
      accountId: "a1",
      isJson: true,
    },
    config: { database: "sqlite:/tmp/x.db" },
  });
});

test("create with a name only", () => {
  expect(read("create", "--name", "app").order).toMatchObject({ profileId: null, expiresAtMs: null, isJson: false });
});

test("a limit that starts anew, and starting it anew", () => {
  expect(read("create", "--name", "a", "--spend-limit", "5", "--spend-reset", "weekly").order).toMatchObject({
    spendLimitNano: 5_000_000_000n,
    spendReset: "weekly",
  });
  for (const word of ["none", "never"])
    expect(read("set", "key_1", "--spend-reset", word).order).toMatchObject({ change: { spendReset: "never" } });
  const order = { kind: "reset-spend", id: "key_1", accountId: null, isJson: false };
  expect(read("reset-spend", "key_1").order).toEqual(order);
});

test("revoke takes the id, before or after its switch", () => {
  const order = { kind: "revoke", id: "key_1", accountId: null, isConfirmed: true, isJson: false };
  expect(read("revoke", "--yes", "key_1").order).toEqual(order);
  expect(read("revoke", "key_1", "--yes").order).toEqual(order);
});

test("set names what it changes, and none takes away", () => {
  const flags = ["--name", "x", "--profile", "none", "--rpm", "none", "--spend-limit", "none", "--expires", "1h"];
  expect(read("set", "key_1", ...flags).order).toEqual({
    kind: "set",
    id: "key_1",
    accountId: null,
    change: { name: "x", profileId: null, requestsPerMinute: null, spendLimitNano: null, expiresAtMs: NOW + 3_600_000 },
    isJson: false,
  });
  expect(read("set", "key_1", "--rpm", "5").order).toMatchObject({ change: { requestsPerMinute: 5 } });
});

test.each([
  [[], 86_400_000],
  [["--grace", "0"], 0],
  [["--grace", "7d"], 7 * 86_400_000],
])("rotate %j", (flags, graceMs) => {
  expect(read("rotate", "key_1", ...flags).order).toMatchObject({ kind: "rotate", id: "key_1", graceMs });
});

describe("wrong usage", () => {
  test.each([
    ["set key_1 --spend-reset hourly", "--spend-reset is one of never, daily, weekly, monthly"],
    ["reset-spend", "needs the id of a key"],
    ["", "keys create, list, set, reset-spend, rotate or revoke"],
    ["set key_1", "something to change"],
    ["set --name x", "needs the id"],
    ["set key_1 --rpm 0", "--rpm is a whole number"],
    ["rotate", "needs the id"],
    ["rotate key_1 --grace 31d", "at most 30d"],
    ["rotate key_1 --grace soon", "such as 0, 1h or 7d"],
    ["crate --name x", "Did you mean 'create'?"],
    ["constructor", "no subcommand 'constructor'"],
    ["create --nmae x", "Did you mean '--name'?"],
    ["create --databse x --name y", "Did you mean '--database'?"],
    ["list --name x", "no flag '--name'"],
    ["create --name x --yes", "no flag '--yes'"],
    ["create", "needs --name"],
    ["create --name", "--name needs a value"],
    ["create --name=", "--name needs a value"],
    ["create app", "Did you mean --name app?"],
    ["create --name app more", "'more' is one word too many"],
    ["create --name app --rpm 0", "--rpm is a whole number"],
    ["create --name app --rpm 1e3", "--rpm is a whole number"],
    ["create --name app --expires soon", "not 'soon'"],
    [`create --name ${"x".repeat(201)}`, "at most 200"],
    ["list all", "'all' is one word too many"],
    ["list --json=maybe", "--json takes no value"],
    ["revoke", "needs the id"],
    ["revoke a b", "'b' is one word too many"],
  ])("keys %s", (line, words) => {
    const argv = line === "" ? [] : line.split(" ");
    expect(() => read(...argv)).toThrow(UsageError);
    expect(() => read(...argv)).toThrow(words);
  });
});
