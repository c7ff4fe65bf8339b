// The reasoning of a decision, parsed into score, signals and steps.

/** The parts of a reasoning. Score and tier are null where the prompt was not classified. */
export interface Reasoning {
  readonly score: string | null;
  readonly tier: string | null;
  readonly signals: readonly string[];
  readonly steps: readonly string[];
}

/** The reasoning is one line, "score 0.31 (SIMPLE): word, word; step; step". What does not fit stays a step. */
export function parseReasoning(text: string): Reasoning {
  const parts = text.split("; ");
  const at = parts.findIndex((part) => part.startsWith("score "));
  const match = /^score (-?[\d.]+) \((\w+)\)(?: not used)?: (.*)$/s.exec(parts[at] ?? "");
  if (match === null) return { score: null, tier: null, signals: [], steps: parts.filter((part) => part !== "") };
  const [, score = null, tier = null, signals = ""] = match;
  return {
    score,
    tier,
    signals: signals.split(", ").filter((signal) => signal !== ""),
    steps: parts.filter((_, index) => index !== at),
  };
}
