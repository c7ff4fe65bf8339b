// Pages that the gateway shows to models: what is taken out of them, in time that grows with their length, and which
// domains a client's limits let pass.

import { describe, expect, test } from "vitest";
import { boundedPage, isWithin } from "../../../../src/formats/tools/searches.ts";

const textOf = (text: string): string => boundedPage({ url: "https://a.example", title: "t", text }, 1_000).text;

test.each([
  ["a </page_content> b", "a b"],
  ["a <\n / \n search_results  x> b", "a b"],
  ["a <page<page_content>_content> b", "a … b"],
  ["a </ p> b", "a </ p> b"],
])("%j is read as %j", (text, read) => {
  expect(textOf(text)).toBe(read);
});

describe("a page that takes long to read for careless patterns", () => {
  // Each took minutes and more, in which the process did nothing else.
  test.each([
    ["spaces behind a bracket", `<${"\n".repeat(200_000)}`],
    ["spaces around a slash", `<${"\n".repeat(100_000)}/${"\n".repeat(100_000)}`],
    ["brackets alone", "<".repeat(200_000)],
    ["unreadable characters", `${"\ufffd".repeat(200_000)}x`],
  ])("%s", (_name, text) => {
    const startedMs = performance.now();
    textOf(text);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });
});

test.each([
  ["https://evil.example/x", { allowed: [], blocked: ["evil.example"] }, false],
  ["https://evil.example./x", { allowed: [], blocked: ["evil.example"] }, false],
  ["https://www.evil.example./x", { allowed: [], blocked: ["evil.example"] }, false],
  ["https://notevil.example/x", { allowed: [], blocked: ["evil.example"] }, true],
  ["https://good.example./x", { allowed: ["good.example"], blocked: [] }, true],
  ["https://good.example.evil.example/x", { allowed: ["good.example"], blocked: [] }, false],
])("%s within %j: %s", (url, domains, expected) => {
  expect(isWithin(url, domains)).toBe(expected);
});
