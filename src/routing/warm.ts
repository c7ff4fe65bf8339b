// Reads a few requests of different kinds at the start, so that the first real one does not wait for the weights to be
// laid out and the code to be compiled.

import type { Catalog } from "../catalog/catalog.ts";
import { classify } from "./classifier/classify.ts";
import { readSignals } from "./classifier/signals.ts";

const TEXTS = [
  "hi, how are you?",
  "Write a function in Python that merges two sorted lists:\n```\ndef merge(a, b):\n    pass\n```",
  "Prove that there are infinitely many primes, and solve 3x + 7 = 2x - 5.",
  "Which of these is a metal?\nA. iron\nB. neon\nC. sulphur\nD. helium",
  "总结下面的文章：市政府昨天宣布将修建一座新桥。",
];

/** Returns how many requests were read. */
export function warmRouter({ weights }: Pick<Catalog, "weights">): number {
  return TEXTS.map((text) => classify({ text, signals: readSignals(text), weights })).length;
}
