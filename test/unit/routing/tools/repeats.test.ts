import { describe, expect, it } from "vitest";
import { asksOf } from "../../../../src/routing/tools/asks.ts";
import { groupsIn, longestLists, mostAlike, mostFilled, ordinalsIn } from "../../../../src/routing/tools/repeats.ts";
import { cpuMs } from "../../../support/cpu-time.ts";

describe("lists of values", () => {
  it.each([
    ["numbers", "Give me the factorials of 5, 7, 10, and 12", "number", 4],
    ["amounts with a unit", "Rates for 10 days, 20 days and 30 days", "number", 3],
    ["names", "Weather in Los Angeles, Cape Town, the United States and Oslo", "text", 4],
    ["a city with its state is one name", "From Austin, TX and Boston, MA", "text", 2],
    ["quoted texts", "Directors of 'Pulp Fiction', 'Kill Bill' and 'Jackie Brown'", "text", 3],
    ["quoted texts with the comma inside", "Directors of 'Pulp Fiction,' 'Kill Bill,' and 'Jackie Brown'", "text", 3],
    ["groups in brackets", "Sort [5, 2, 9], [3, 8], and [10, 20]", "group", 3],
    ["Chinese words", "查询北京、上海、广州的天气", "text", 3],
  ] as const)("%s", (_, text, kind, count) => {
    expect(longestLists(text, text)[kind]).toBe(count);
  });

  it("a single value is no list", () => {
    const text = "What is the weather in Paris at 5?";
    expect(longestLists(text, text)).toEqual({ text: 0, number: 0, group: 0 });
  });
});

describe("a slot that is filled again", () => {
  it.each([
    ["a radius of 5 and another with a radius of 9", 2],
    ["from Rome to Oslo, then from Oslo to Bern", 2],
    ["a rate of 5% and a term of 30 years", 1],
    ["tell me a joke", 0],
  ])("%s", (text, count) => {
    expect(mostFilled(text)).toBe(count);
  });
});

it("groups are counted wherever they stand, and not those inside of others", () => {
  expect(groupsIn("Sort [5, 2] upwards and [[1, 2], [3]] downwards")).toBe(2);
  expect(groupsIn("no group ] here")).toBe(0);
});

describe("identifiers of one kind", () => {
  it.each([
    ["get https://a.test/1 and https://a.test/2", 2],
    ["mail tom@x.test, then eva@x.test, then tom@x.test", 2],
    ["D-7 is lost, D-8 and D-9 are won", 3],
    ["are AF 12 and AF 14 on time", 2],
    ["W-118 for tom@x.test", 1],
    ["between 2022-01-01 and 2022-03-31", 0],
  ])("%s", (text, count) => {
    expect(mostAlike(text)).toBe(count);
  });
});

it("ordinals count once each, and a second of time does not", () => {
  expect(ordinalsIn("The first sample, the second sample, and again the first")).toBe(2);
  expect(ordinalsIn("9.8 meters per second")).toBe(0);
});

it("asks are told from the story around them", () => {
  const asks = asksOf("I live in Rome. It rains a lot. Could you find a hotel? Book a table too.", (sentence) =>
    sentence.startsWith("Book"),
  );
  expect(asks).toEqual(["Could you find a hotel?", "Book a table too."]);
  expect(asksOf("Lights on.", () => false)).toEqual(["Lights on."]);
});

it("a text made to be slow is read in no time", () => {
  const hostile = [
    "1,".repeat(800),
    "A ".repeat(800),
    "'".repeat(1600),
    "[".repeat(1600),
    "a of ".repeat(320),
    "a.".repeat(800),
  ];
  const tookMs = cpuMs(() => {
    for (const text of hostile) {
      longestLists(text, text);
      mostFilled(text);
      mostAlike(text);
    }
  });
  expect(tookMs).toBeLessThan(1000);
});
