import { describe, expect, it } from "vitest";
import { readWeights } from "../../../../src/catalog/weights.ts";
import { CATEGORIES } from "../../../../src/core/decision.ts";
import { TIERS, tierRank } from "../../../../src/core/tiers.ts";
import { classify } from "../../../../src/routing/classifier/classify.ts";
import { CUES, LEXICON } from "../../../../src/routing/classifier/lexicon.ts";
import { readPrompt } from "../../../../src/routing/classifier/signals.ts";
import { fc } from "../../../support/property.ts";

const weights = readWeights();

const read = (text: string) => classify(readPrompt(text), weights);

describe("tiers", () => {
  const cases: readonly [string, string][] = [
    ["NANO", "hi"],
    ["NANO", "hey, how are you?"],
    ["NANO", "Bonjour"],
    ["NANO", "Merhaba"],
    ["NANO", "你好"],
    ["NANO", "спасибо"],
    ["SIMPLE", "What is the capital of France?"],
    ["SIMPLE", "Was ist die Hauptstadt von Deutschland?"],
    ["SIMPLE", "¿Cuál es la capital de España?"],
    ["SIMPLE", "日本の首都はどこですか"],
    ["SIMPLE", "ما هي عاصمة مصر؟"],
    ["SIMPLE", "भारत की राजधानी क्या है?"],
    ["LIGHT", "Write an email to my boss asking for a day off"],
    ["LIGHT", "Schreibe eine E-Mail an meinen Vermieter"],
    ["LIGHT", "Summarize this article: The harbour was rebuilt after the flood."],
    ["LIGHT", "翻译成英文：今天天气很好"],
    ["STANDARD", "Write a python function that reverses a linked list"],
    ["STANDARD", "写一个函数反转链表"],
    ["STANDARD", "この関数のバグを直して"],
    ["STANDARD", "Compare the economic policies of Keynes and Hayek and evaluate which fits 2008"],
    ["COMPLEX", "Prove that the square root of 2 is irrational"],
    ["COMPLEX", "Докажите, что множество простых чисел бесконечно"],
    ["COMPLEX", "证明存在无穷多个素数"],
    ["COMPLEX", "분산 시스템 아키텍처를 설계해줘"],
    [
      "COMPLEX",
      "Design a distributed, fault-tolerant rate limiter. It must survive a region outage; explain trade-offs.",
    ],
  ];
  it.each(cases)("%s: %s", (tier, prompt) => {
    expect(read(prompt).tier).toBe(tier);
  });

  it.each(["", "x", "asdf qwer", "…"])("unsure goes to the middle: %j", (prompt) => {
    const { tier, isSure } = read(prompt);
    expect(isSure && tierRank(tier) < tierRank("LIGHT")).toBe(false);
  });
});

describe("categories", () => {
  const cases: readonly [string, string][] = [
    ["chitchat", "Good morning!"],
    ["simple_qa", "Who wrote Hamlet?"],
    ["math", "Solve x^2 - 5x + 6 = 0"],
    ["math", "Tom has 12 apples and buys 7 more. How many apples does he have?"],
    ["coding_general_debugging_refactoring_testing", "Refactor the auth module and add unit tests"],
    ["creative_writing", "Write a haiku about autumn"],
    ["writing", "Draft a cover letter for a nurse"],
    ["summarization", "Fasse den Text zusammen: Es war einmal"],
    ["translation", "Translate to French: the door is open"],
    ["extraction", "Extract all named entities: Anna met Bob in Rome."],
    ["reasoning", "Explain and compare the causes of both wars step by step"],
    ["general", "blorp fizz"],
  ];
  it.each(cases)("%s: %s", (category, prompt) => {
    expect(read(prompt).category).toBe(category);
  });

  const codeWithoutNames: readonly string[] = [
    "x := foo(bar)\nif x != nil {\n  y();\n}\n",
    "const total = rows => rows.map(r => r.id);\nconst z = () => {};\n",
    "it fails\n    at load (/srv/main:10:3)\n    at run (/srv/main:20:1)",
    "```\nlet a = 1\n```",
  ];
  it.each(codeWithoutNames)("code is seen without a language's name: %j", (prompt) => {
    expect(read(prompt).isCoding).toBe(true);
  });
});

describe("the contract", () => {
  it("holds for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => {
        const result = read(text);
        expect(result.score).toBeGreaterThanOrEqual(0);
        expect(result.score).toBeLessThanOrEqual(1);
        expect(result.confidence).toBeGreaterThanOrEqual(0);
        expect(result.confidence).toBeLessThanOrEqual(1);
        expect(TIERS).toContain(result.tier);
        expect(CATEGORIES).toContain(result.category);
        expect(result.signals.length).toBeGreaterThan(0);
        expect(read(text)).toEqual(result);
      }),
      { numRuns: 300 },
    );
  });

  it("a higher score is never a lower tier", () => {
    const prompts = fc.constantFrom("hi", "What is it?", "Write a letter", "Fix this function", "Prove the theorem");
    fc.assert(
      fc.property(prompts, prompts, fc.lorem(), (first, second, tail) => {
        const [a, b] = [read(`${first} ${tail}`), read(`${second} ${tail}`)];
        if (a.score >= b.score) expect(tierRank(a.tier)).toBeGreaterThanOrEqual(tierRank(b.tier));
      }),
    );
  });
});

describe("the lexicon", () => {
  const words = CUES.flatMap((cue) =>
    LEXICON[cue].flatMap((line) => line.split("|").map((word) => [cue, word] as const)),
  );

  it("has only entries that can be found", () => {
    const missed = words.filter(([cue, word]) => readPrompt(word.replace("*", "")).signals.cues[cue] === 0);
    expect(missed).toEqual([]);
  });

  it("has Latin stems of three characters at least, since they are indexed by three", () => {
    expect(words.filter(([, word]) => /^[a-z]{1,2}\*$/.test(word))).toEqual([]);
  });
});
