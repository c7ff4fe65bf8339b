// Health, rights and savings at stake, and short requests for code. The prompts are not those of the corpus.

import { describe, expect, it } from "vitest";
import { readWeights } from "../../../../src/catalog/weights.ts";
import { tierRank } from "../../../../src/core/tiers.ts";
import { classify } from "../../../../src/routing/classifier/classify.ts";
import { CODING } from "../../../../src/routing/classifier/rules.ts";
import { readPrompt } from "../../../../src/routing/classifier/signals.ts";

const weights = readWeights();
const read = (text: string) => classify(readPrompt(text), weights);

describe("a request with something at stake", () => {
  it.each([
    "My 3-year-old swallowed a button battery 20 minutes ago, what now",
    "my dad has chest pain and his arm went numb",
    "I think I took too many pills, can I just sleep it off?",
    "We got an eviction notice today. How long do we have?",
    "I'm being sued by my old company over a non-compete",
    "Is it smart to put all my savings into one crypto coin?",
    "Unser Baby hat Spülmittel verschluckt, was jetzt?",
    "Ma fille a avalé une pile bouton, que faire ?",
    "Mi padre tiene dolor en el pecho y está sudando",
    "Мой ребёнок проглотил батарейку, что делать?",
    "我的孩子误食了老鼠药怎么办",
    "息子がボタン電池を飲み込んだかもしれません",
    "아기가 건전지를 삼켰어요",
    "Con trai tôi nuốt phải pin cúc áo",
    "ابنتي ابتلعت بطارية صغيرة",
    "मेरे बच्चे ने बैटरी निगल ली है",
  ])("goes to STANDARD or above and is no code: %s", (prompt) => {
    const { tier, category, isCoding } = read(prompt);
    expect(tierRank(tier)).toBeGreaterThanOrEqual(tierRank("STANDARD"));
    expect([category === CODING, isCoding]).toEqual([false, false]);
  });

  it("says so", () => {
    expect(read("My 3-year-old swallowed a button battery 20 minutes ago, what now").signals).toContain(
      "health, rights or savings at stake",
    );
  });

  it.each([
    "What is a heart attack?",
    "Who was arrested in 1916?",
    "Translate into German: my son swallowed a coin",
    "Write a short poem about my heart attack",
    "how do I fix a seizure of my python process",
  ])("is not meant by its words alone: %s", (prompt) => {
    expect(read(prompt).signals).not.toContain("health, rights or savings at stake");
  });
});

describe("a short request for code", () => {
  it.each([
    "hello world in python",
    "regex for email",
    "center a div",
    "hello world in rust",
    "regex for ipv4",
    "css grid two columns",
    "sort dict by value python",
    "bash loop over files",
    "hola mundo en javascript",
    "Regex für Postleitzahlen",
    "python读取文件",
    "divを縦方向に中央揃え",
    "자바스크립트 배열 정렬",
    "отсортировать список в python",
  ])("is coding: %s", (prompt) => {
    expect(read(prompt).category).toBe(CODING);
  });
});
