// Warm-up at start: a few requests of different kinds are classified, so that the first real one does not wait for the
// weights to be laid out and the code to be compiled. Weights that do not fit the code are refused here.

import type { Catalog } from "../catalog/catalog.ts";
import { classify } from "./classifier/classify.ts";
import { readPrompt } from "./classifier/signals.ts";

const TEXTS = [
  "hi, how are you?",
  "Write a function in Python that merges two sorted lists:\n```\ndef merge(a, b):\n    pass\n```",
  "Prove that there are infinitely many primes, and solve 3x + 7 = 2x - 5.",
  "Which of these is a metal?\nA. iron\nB. neon\nC. sulphur\nD. helium",
  "总结下面的文章：市政府昨天宣布将修建一座新桥。",
];

/** Returns how many requests were classified. */
export function warmRouter({ weights }: Pick<Catalog, "weights">): number {
  return TEXTS.map((text) => classify(readPrompt(text), weights)).length;
}
