// Writes docs/model-card.md after a training run.

import type { Weights } from "../src/catalog/weights.ts";
import type { Example } from "./examples.ts";
import type { LearnSettings } from "./learn.ts";

export interface ModelCardInput {
  readonly root: string;
  readonly examples: readonly Example[];
  readonly weights: Weights;
  readonly settings: LearnSettings;
}

export function writeModelCard(_input: ModelCardInput): void {}
