// Asks for the decision as the draft changes: a short pause after the last key, the old answer staying until the new one
// is there.

import { useEffect, useState } from "preact/hooks";
import { type ApiError, call } from "../../api.ts";
import { type Draft, questionOf } from "../../parts/playground-draft.ts";
import type { Candidate, Decision } from "../../types.ts";

const PAUSE_MS = 150;

export interface DecisionPreview {
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

export interface PreviewState {
  readonly preview: DecisionPreview | null;
  readonly error: ApiError | null;
  readonly isStale: boolean;
}

/** Null asks nothing. */
export function useDecision(draft: Draft | null): PreviewState {
  const [state, setState] = useState<PreviewState>({ preview: null, error: null, isStale: false });
  const question = draft === null || draft.prompt.trim() === "" ? null : JSON.stringify(questionOf(draft));
  useEffect(() => {
    if (question === null) {
      setState({ preview: null, error: null, isStale: false });
      return;
    }
    const abort = new AbortController();
    setState((last) => ({ ...last, isStale: last.preview !== null }));
    const timer = setTimeout(() => {
      const body: unknown = JSON.parse(question);
      call<DecisionPreview>("POST", "/api/playground/decide", { body, signal: abort.signal, isQuestion: true }).then(
        (preview) => setState({ preview, error: null, isStale: false }),
        (error: unknown) => {
          if (!abort.signal.aborted) setState((last) => ({ ...last, error: error as ApiError, isStale: true }));
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [question]);
  return state;
}
