// Labelled rows: one JSON object per line with a prompt (or a conversation) and what is known of it.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ChatMessage, ChatRequest, Tool } from "../src/core/chat.ts";
import { CATEGORIES, type Category } from "../src/core/decision.ts";
import type { ToolScenario } from "../src/core/model.ts";

/** Labels of a row; every part may be missing. */
export interface Label {
  readonly category?: string;
  readonly category_alt?: readonly string[];
  readonly fine?: string;
  readonly coding?: boolean;
  /** On the source's own scale. */
  readonly difficulty?: number;
  /** The tier expected, 0 to 4. */
  readonly ladder?: number;
  /** Shares of right answers of a weak and a strong model, 0 to 1. */
  readonly weak_correct?: number;
  readonly strong_correct?: number;
  readonly models?: Readonly<Record<string, number>>;
  readonly scenario?: ToolScenario;
  readonly language?: string;
  /** What rows in several languages that ask for the same have in common. */
  readonly task?: string;
  /** A tier of four, from a set made for another router. */
  readonly tier4?: "SIMPLE" | "MEDIUM" | "COMPLEX" | "REASONING";
}

/** A tool as clients send it. */
export interface WireTool {
  readonly function?: Partial<Tool>;
}

export interface Row {
  readonly id: string;
  readonly source: string;
  readonly prompt: string;
  readonly messages?: readonly ChatMessage[];
  readonly tools?: readonly WireTool[];
  readonly label: Label;
}

/** The rows of every .jsonl file in a folder that have labels, files in alphabetical order. */
export function readRows(folder: string): readonly Row[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  return names.sort().flatMap((name) => parseRows(readFileSync(join(folder, name), "utf8")));
}

const TIERS_OF_FOUR = ["SIMPLE", "MEDIUM", "COMPLEX", "REASONING"] as const;

function parseRows(text: string): readonly Row[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.flatMap((line) => {
    const row = JSON.parse(line) as Omit<Row, "label"> & { readonly label?: Label };
    if (row.label === undefined) return [];
    const { tier4 } = row.label;
    // Four tiers are no five, but they are an order.
    const difficulty = tier4 === undefined ? row.label.difficulty : TIERS_OF_FOUR.indexOf(tier4);
    return [{ ...row, label: { ...row.label, ...(difficulty === undefined ? {} : { difficulty }) } }];
  });
}

const SHORT_NAMES: Readonly<Record<string, Category>> = {
  coding: "coding_general_debugging_refactoring_testing",
  creative: "creative_writing",
};

/** Labels may use the short names `coding` and `creative`. */
export function categoryOf(name: string): Category | null {
  const full = SHORT_NAMES[name] ?? name;
  return (CATEGORIES as readonly string[]).includes(full) ? (full as Category) : null;
}

/** The request that a client would send for this row. */
export function chatOf({ prompt, messages, tools }: Row): ChatRequest {
  return {
    messages: messages ?? [{ role: "user", content: prompt }],
    tools: (tools ?? []).map(({ function: tool }) => ({
      name: tool?.name ?? "",
      description: tool?.description ?? "",
      parameters: tool?.parameters ?? null,
    })),
    toolChoice: null,
    isStream: false,
    wantsUsage: false,
    maxOutputTokens: null,
    choiceCount: 1,
  };
}
