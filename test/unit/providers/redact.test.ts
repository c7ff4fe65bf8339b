// Secrets are taken out of what a provider says.

import { describe, expect, it } from "vitest";
import { createRedact } from "../../../src/providers/redact.ts";

const redact = createRedact({ apiKey: "correct horse battery", headers: { "x-org": "org-4711-secret", "x-a": "a" } });

describe("what a provider says", () => {
  it.each([
    ["its own key", "Incorrect API key provided: correct horse battery.", "Incorrect API key provided: •••."],
    ["its own key twice", "correct horse battery/correct horse battery", "•••/•••"],
    ["a header it is sent", "unknown organisation org-4711-secret", "unknown organisation •••"],
    ["a key of its kind", "bad key sk-proj-abcdefghijklmnop1234", "bad key •••"],
    ["one of ours", "got sk-service-abcdefghijklmnop1234?", "got •••?"],
    ["a key of Google", "AIzaSyA1234567890abcdefghijklmnopqrstu is not valid", "••• is not valid"],
    ["a header as it stands", 'header "Authorization: Bearer abc.def.ghi.jkl"', 'header "Authorization: •••"'],
    [
      "an address with a key",
      "GET https://x.example/v1?key=s3cret&alt=sse",
      "GET https://x.example/v1?key=•••&alt=sse",
    ],
    ["a password in an address", "no route to https://joe:s3cret@inside/x", "no route to https://•••@inside/x"],
    ["what a terminal obeys", "a\u001b[31mred\u009b0m\r\nline\u0007", "a [31mred 0m line "],
  ])("without %s", (_name, said, shown) => {
    expect(redact(said)).toBe(shown);
  });

  it.each([
    "a short header value stays",
    "The model gpt-5-mini does not exist; try claude-opus-4-8.",
    "sk- is where keys begin",
    "messages.3.content: token limit reached",
  ])("otherwise unchanged: %s", (said) => {
    expect(redact(said)).toBe(said);
  });
});
