// HTML as text for models, of whatever somebody puts on a page.

import { expect, it } from "vitest";
import { htmlToText } from "../../../../src/formats/tools/html-text.ts";
import { fc } from "../../../support/property.ts";
import { promisedMs } from "../../../support/random.ts";

const textOf = (html: string): string => htmlToText(html, "https://a.example/b/").text;

it.each([
  ["lists", "<ul><li>one<li>two</ul>", "- one\n- two"],
  ["links", '<p>see <a class="x" href="../c">that <b>page</b></a>', "see [that page](https://a.example/c)"],
  ["silent elements", "a<style>b</style><SCRIPT>if (a</b) c</SCRIPT >d<!-- e -->f", "adf"],
  ["a script that never ends", "a<script>b", "a"],
  ["quoted brackets", '<p title="a>b">c', "c"],
  ["signs that are no tags", "1 < 2 && 3 > 2", "1 < 2 && 3 > 2"],
  ["entities", "&#x41;&#66;&eacute;&unknown;&#xD800;", "ABé&unknown;"],
  ["a tag that never ends", `a<b ${"x".repeat(10_000)}`, `a${"x".repeat(6_002)}`],
])("%s", (_name, html, text) => {
  expect(textOf(html)).toBe(text);
});

it("the title", () => {
  expect(htmlToText("<title>A &amp;\n B</title><svg><title>no</title></svg>", "https://a.example/").title).toBe(
    "A & B",
  );
});

it.each(["<title>", "<a ", "<", "</", '<a href="', "<!--", "<script>", "<li>"])(
  "takes no longer for many %j",
  (piece) => {
    const begun = performance.now();
    textOf(piece.repeat(2 ** 21 / piece.length));
    expect(performance.now() - begun).toBeLessThan(promisedMs(5_000));
  },
);

it("reads no further than asked, and no more addresses than a model reads", () => {
  expect(htmlToText("<p>one</p>".repeat(100_000), "https://a.example/", 100).text.length).toBeLessThan(200);
  const links = textOf("<a href=/c>d</a>".repeat(6_000));
  expect(links.split("](").length).toBe(5_001);
});

it("reads anything", () => {
  const pieces = fc.constantFrom(
    "<",
    ">",
    "</",
    "<a href=",
    '"',
    "'",
    "<script>",
    "</script>",
    "&#",
    ";",
    "x",
    " ",
    "<!--",
    "-->",
  );
  fc.assert(fc.property(fc.array(pieces), (parts) => typeof textOf(parts.join("")) === "string"));
});
