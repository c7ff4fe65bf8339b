// Asks for the decision as the draft changes: a short pause after the last key, the old answer staying until the new one
// is there.

import { useEffect, useState } from "preact/hooks";
import { type ApiError, call } from "../../api.ts";
import { type Draft, questionOf } from "../../parts/playground-draft.ts";
import type { Candidate, Decision } from "../../types.ts";

const PAUSE_MS = 150;

export interface Answer {
  readonly decision: Omit<
    Decision,
    "chain" | "candidates" | "costEstimateUsd" | "baselineCostUsd" | "estimatedTokens"
  > & {
    readonly filteredChain: readonly string[];
    readonly droppedFields?: readonly string[];
    readonly conversions?: readonly string[];
  };
  readonly classifiedTier: string | null;
  readonly candidates: readonly (Candidate & { readonly costUsd: string })[];
  readonly estimate: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly baselineModel: string;
    readonly costUsd: string;
    readonly baselineCostUsd: string;
  };
  readonly tookMs: number;
}

export interface Asked {
  readonly answer: Answer | null;
  readonly error: ApiError | null;
  readonly isStale: boolean;
}

/** Null asks nothing. */
export function useDecision(draft: Draft | null): Asked {
  const [asked, setAsked] = useState<Asked>({ answer: null, error: null, isStale: false });
  const question = draft === null || draft.prompt.trim() === "" ? null : JSON.stringify(questionOf(draft));
  useEffect(() => {
    if (question === null) {
      setAsked({ answer: null, error: null, isStale: false });
      return;
    }
    const abort = new AbortController();
    setAsked((last) => ({ ...last, isStale: last.answer !== null }));
    const timer = setTimeout(() => {
      const body: unknown = JSON.parse(question);
      call<Answer>("POST", "/api/playground/decide", { body, signal: abort.signal, isQuestion: true }).then(
        (answer) => setAsked({ answer, error: null, isStale: false }),
        (error: unknown) => {
          if (!abort.signal.aborted) setAsked((last) => ({ ...last, error: error as ApiError, isStale: true }));
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [question]);
  return asked;
}
