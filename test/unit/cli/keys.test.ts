// Arguments of `keys`: what it is asked to do, what it rejects before opening anything, and expiries as people write them.

import { describe, expect, test } from "vitest";
import { readArguments } from "../../../src/cli/command/arguments.ts";
import { parseExpiry } from "../../../src/cli/command/expiry.ts";
import { UsageError } from "../../../src/cli/command/usage.ts";
import { parseKeys } from "../../../src/cli/keys.ts";
import { fc } from "../../support/property.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const HOUR_MS = 3_600_000;

const read = (...argv: string[]) => parseKeys(readArguments(["keys", ...argv]), NOW);

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
    options: {
      kind: "create",
      key: {
        name: "app",
        profileId: "p1",
        teamId: null,
        memberId: null,
        requestsPerMinute: 60,
        spendLimitNano: 2_500_000_000n,
        spendReset: "never",
        expiresAtMs: NOW + HOUR_MS,
        requires: null,
      },
      accountId: "a1",
      isJson: true,
    },
    config: { database: "sqlite:/tmp/x.db" },
  });
});

test("create with a name only", () => {
  expect(read("create", "--name", "app").options).toMatchObject({
    key: { profileId: null, expiresAtMs: null },
    isJson: false,
  });
});

test("a spend limit that resets, and resetting it", () => {
  expect(read("create", "--name", "a", "--spend-limit", "5", "--spend-reset", "weekly").options).toMatchObject({
    key: { spendLimitNano: 5_000_000_000n, spendReset: "weekly" },
  });
  for (const word of ["none", "never"])
    expect(read("set", "key_1", "--spend-reset", word).options).toMatchObject({ change: { spendReset: "never" } });
  const options = { kind: "reset-spend", id: "key_1", accountId: null, isJson: false };
  expect(read("reset-spend", "key_1").options).toEqual(options);
});

test("revoke takes the id, before or after its switch", () => {
  const options = { kind: "revoke", id: "key_1", accountId: null, isConfirmed: true, isJson: false };
  expect(read("revoke", "--yes", "key_1").options).toEqual(options);
  expect(read("revoke", "key_1", "--yes").options).toEqual(options);
});

test("set names what it changes, and none takes away", () => {
  const flags = ["--name", "x", "--profile", "none", "--rpm", "none", "--spend-limit", "none", "--expires", "1h"];
  expect(read("set", "key_1", ...flags).options).toEqual({
    kind: "set",
    id: "key_1",
    accountId: null,
    change: { name: "x", profileId: null, requestsPerMinute: null, spendLimitNano: null, expiresAtMs: NOW + 3_600_000 },
    isJson: false,
  });
  expect(read("set", "key_1", "--rpm", "5").options).toMatchObject({ change: { requestsPerMinute: 5 } });
});

test.each([
  [[], 86_400_000],
  [["--grace", "0"], 0],
  [["--grace", "7d"], 7 * 86_400_000],
])("rotate %j", (flags, graceMs) => {
  expect(read("rotate", "key_1", ...flags).options).toMatchObject({ kind: "rotate", id: "key_1", graceMs });
});

describe("wrong usage", () => {
  test.each([
    ["set key_1 --spend-reset hourly", "--spend-reset is one of never, daily, weekly, monthly"],
    ["reset-spend", "needs a key id"],
    ["", "keys create, list, set, reset-spend, rotate or revoke"],
    ["set key_1", "something to change"],
    ["set --name x", "needs a key id"],
    ["set key_1 --rpm 0", "--rpm is a whole number"],
    ["rotate", "needs a key id"],
    ["rotate key_1 --grace 31d", "at most 30d"],
    ["rotate key_1 --grace soon", "such as 0, 1h or 7d"],
    ["crate --name x", "Did you mean 'create'?"],
    ["constructor", "Unknown subcommand 'constructor'"],
    ["create --nmae x", "Did you mean '--name'?"],
    ["create --databse x --name y", "Did you mean '--database'?"],
    ["list --name x", "Unknown flag '--name'"],
    ["create --name x --yes", "Unknown flag '--yes'"],
    ["create", "needs --name"],
    ["create --name", "--name needs a value"],
    ["create --name=", "--name needs a value"],
    ["create app", "Did you mean --name app?"],
    ["create --name app more", "Unexpected argument 'more'"],
    ["create --name app --rpm 0", "--rpm is a whole number"],
    ["create --name app --rpm 1e3", "--rpm is a whole number"],
    ["create --name app --expires soon", "not 'soon'"],
    [`create --name ${"x".repeat(201)}`, "at most 200"],
    ["list all", "Unexpected argument 'all'"],
    ["list --json=maybe", "--json takes no value"],
    ["revoke", "needs a key id. List them: npm start -- keys list."],
    ["revoke a b", "Unexpected argument 'b'"],
  ])("keys %s", (line, words) => {
    const argv = line === "" ? [] : line.split(" ");
    expect(() => read(...argv)).toThrow(UsageError);
    expect(() => read(...argv)).toThrow(words);
  });
});

describe("an expiry", () => {
  test.each([
    ["1h", NOW + HOUR_MS],
    ["90d", NOW + 90 * 24 * HOUR_MS],
    ["2w", NOW + 14 * 24 * HOUR_MS],
    ["1y", NOW + 365 * 24 * HOUR_MS],
    ["2026-03-02", Date.parse("2026-03-02T00:00:00Z")],
    ["2028-02-29", Date.parse("2028-02-29T00:00:00Z")],
    ["2026-03-01T14:30+02:00", Date.parse("2026-03-01T12:30:00Z")],
    ["2027-01-31T10:00:00.5Z", Date.parse("2027-01-31T10:00:00.500Z")],
  ])("%s", (text, atMs) => {
    expect(parseExpiry(text, NOW)).toBe(atMs);
  });

  test.each([
    ["no time at all", "0d"],
    ["a unit that means two things", "6m"],
    ["no unit", "90"],
    ["a fraction", "1.5d"],
    ["a negative", "-1d"],
    ["words", "tomorrow"],
    ["the past", "2026-02-28"],
    ["this moment", "2026-03-01T12:00:00Z"],
    ["a day that does not exist", "2026-02-31"],
    ["a month that does not exist", "2026-13-01"],
    ["a time without a zone", "2027-01-31T10:00:00"],
    ["beyond four digits of year", "9999y"],
    ["nothing", ""],
  ])("rejects %s", (_, text) => {
    expect(parseExpiry(text, NOW)).toBeNull();
  });

  test("every result lies in the future and can be written as a date", () => {
    const texts = fc.oneof(
      fc.string(),
      fc.tuple(fc.nat(), fc.constantFrom("h", "d", "w", "y", "m")).map(([count, unit]) => `${count}${unit}`),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const atMs = parseExpiry(text, NOW);
        if (atMs === null) return;
        expect(atMs).toBeGreaterThan(NOW);
        expect(new Date(atMs).toISOString()).toMatch(/^\d{4}-/);
      }),
    );
  });
});
