// Words and flags of a command line.

import { expect, test } from "vitest";
import { readArguments } from "../../../../src/cli/command/arguments.ts";

test.each([
  ["nothing is serve", [], { command: "serve", words: [], flags: {} }],
  ["flags alone are serve's", ["--port", "1"], { command: "serve", words: [], flags: { port: "1" } }],
  ["words after the first", ["keys", "revoke", "key_1"], { command: "keys", words: ["revoke", "key_1"], flags: {} }],
  ["an equals sign", ["keys", "--name=a=b"], { command: "keys", words: [], flags: { name: "a=b" } }],
  [
    "a switch takes no word",
    ["keys", "revoke", "--yes", "key_1"],
    { words: ["revoke", "key_1"], flags: { yes: "true" } },
  ],
  ["a flag before a flag", ["keys", "--name", "--json"], { flags: { name: "true", json: "true" } }],
  ["a flag at the end", ["keys", "--name"], { flags: { name: "true" } }],
  ["the short ones", ["-h"], { command: "help", flags: { help: "true" } }],
  ["help of a command", ["keys", "-h"], { command: "keys", flags: { help: "true" } }],
  [
    "two dashes end the flags",
    ["route", "--json", "--", "--x", "-h"],
    { words: ["--x", "-h"], flags: { json: "true" } },
  ],
  ["an equals sign before dashes", ["route", "--system=--x"], { flags: { system: "--x" } }],
  [
    "a negative amount",
    ["credits", "adjust", "-2.50", "--note", "x"],
    { words: ["adjust", "-2.50"], flags: { note: "x" } },
  ],
  ["an unknown flag with its value", ["keys", "--nmae", "app"], { words: [], flags: { nmae: "app" } }],
  ["a word every object has", ["constructor"], { command: "constructor" }],
])("%s", (_, argv, expected) => {
  expect(readArguments(argv)).toMatchObject(expected);
});
