// Prompts that were once classified wrongly: proofs in many languages, everyday questions taken for code, pasted texts.

import { describe, expect, it } from "vitest";
import { readWeights } from "../../../../src/catalog/weights.ts";
import { type Tier, tierRank } from "../../../../src/core/tiers.ts";
import { classify } from "../../../../src/routing/classifier/classify.ts";
import { readPrompt } from "../../../../src/routing/classifier/signals.ts";

const weights = readWeights();
const read = (text: string) => classify(readPrompt(text), weights);
const rankOf = (text: string) => tierRank(read(text).tier);
const rank = (tier: Tier) => tierRank(tier);

describe("a request that needs a good model", () => {
  it.each([
    "Show every group of order 15 is cyclic",
    "Udowodnij, że pierwiastek z 2 jest liczbą niewymierną.",
    "Bewijs dat er oneindig veel priemgetallen zijn.",
    "Bevisa att det finns oändligt många primtal.",
    "Dokažte, že odmocnina ze tří je iracionální číslo.",
    "Bizonyítsd be, hogy végtelen sok prímszám van!",
    "Να αποδείξετε ότι η ρίζα του 2 είναι άρρητος αριθμός.",
    "הוכח שיש אינסוף מספרים ראשוניים",
    "Buktikan bahwa akar dari 3 adalah bilangan irasional.",
    "Chứng minh rằng căn bậc hai của 2 là số vô tỉ.",
    "ABG: pH 7.21, pCO2 28, HCO3 11, Na 140, Cl 102. Work out the disorder.",
    "∫ x² e^(−x) dx",
    "\\int_0^1 \\frac{\\ln(1+x)}{x} dx",
    "d/dx (ln(sin(x^2)))",
    "80yo F w/ CHF, Na 126, K 3.0, on HCTZ + furosemide, confused. approach?",
    "45F, sudden worst headache, neck stiff, CT neg at 8h, LP pending. GCS 15. plan?",
    "A landlord in California keeps a deposit citing pre-existing damage; the tenant has dated photos. What claims, defences and statutory penalties apply, and how would a court weigh them?",
  ])("goes to STANDARD or above: %s", (prompt) => {
    expect(rankOf(prompt)).toBeGreaterThanOrEqual(rank("STANDARD"));
  });
});

describe("a small request", () => {
  it.each([
    "how do i boil an egg",
    "how do i tie a bowline knot",
    "how to get rid of fruit flies",
    "Ποια είναι η πρωτεύουσα του Περού;",
    "Hvad er hovedstaden i Peru?",
    "😂😂😂",
  ])("stays at SIMPLE or below: %s", (prompt) => {
    expect(rankOf(prompt)).toBeLessThanOrEqual(rank("SIMPLE"));
  });
});

describe("work on a machine", () => {
  it.each([
    "delete all files older than 30 days in /var/log",
    "kill whatever is listening on port 3000",
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 3\n\npods stuck in CrashLoopBackOff",
    "services:\n  db:\n    image: postgres:16\n    volumes:\n      - data:/var/lib/postgresql\n\nthe container forgets everything on restart",
  ])("is coding without a language's name: %j", (prompt) => {
    expect(read(prompt).category).toBe("coding_general_debugging_refactoring_testing");
  });
});

describe("a sum from everyday life", () => {
  it.each([
    "A bakery makes 240 rolls. It sells 3/8 of them before noon and 60% of the rest after. How many are left?",
    "Priya reads 14 pages a day on weekdays and 30 on each weekend day. How many weeks does a 500 page book take her?",
    "Lena kauft 4 Hefte zu je 1,35 Euro und zahlt mit einem 10-Euro-Schein. Wie viel bekommt sie zurück?",
  ])("is mathematics and stays at LIGHT or below: %s", (prompt) => {
    expect(read(prompt).category).toBe("math");
    expect(rankOf(prompt)).toBeLessThanOrEqual(rank("LIGHT"));
  });
});

describe("what is asked", () => {
  const dialogue =
    "Kim: the bus is late again\nLee: take the tram, it leaves at ten past\nKim: ok, can you keep me a seat?\nLee: sure, I'm in the second row";
  it.each([
    ["summarization", `Sum up the following dialogue:\n${dialogue}`],
    ["summarization", `${dialogue}\n\nGive me the gist.`],
    ["writing", "Write a blog post that explains why we chose Golang for our backend"],
    ["creative_writing", "Make up a legend that explains why the sea is salty."],
    ["general", "Suggest some cheap ways to decorate a dorm room."],
    ["reasoning", "80yo F w/ CHF, Na 126, K 3.0, on HCTZ + furosemide, confused. approach?"],
  ])("counts more than what it is about: %s: %j", (category, prompt) => {
    expect(read(prompt).category).toBe(category);
  });
});
