// The decision for a draft, asked for as it changes. It waits for a pause in typing, and the old decision stays until
// the new one is there.

import { useEffect, useState } from "preact/hooks";
import type { BaselinePrice } from "../../../src/core/requests/records.ts";
import { type ApiError, call } from "../../api.ts";
import { type Draft, questionOf } from "../../parts/playground-draft.ts";
import type { Candidate, Decision } from "../../types.ts";

/** Pause in typing before a request: short enough to feel live, long enough to skip most letters. */
const PAUSE_MS = 150;

/** Response of `/api/playground/decide`. */
export interface DecisionPreview {
  readonly decision: Omit<
    Decision,
    "chain" | "candidates" | "costEstimateUsd" | "baselineCostUsd" | "estimatedTokens"
  > & {
    readonly filteredChain: readonly string[];
    readonly droppedFields?: readonly string[];
    readonly conversions?: readonly string[];
    readonly cascade?: {
      readonly checks?: readonly string[];
      readonly attempts?: readonly { readonly tier: string; readonly model: string }[];
      readonly unusedBecause?: string;
    };
  };
  readonly classifiedTier: string | null;
  readonly candidates: readonly (Candidate & { readonly costUsd: string })[];
  readonly estimate: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly baselineModel: string;
    readonly baselinePrice: BaselinePrice | null;
    readonly costUsd: string;
    readonly baselineCostUsd: string;
    readonly savings: number;
  };
  /** Time that routing took in the gateway. */
  readonly tookMs: number;
}

/** The newest decision and whether it belongs to the draft as it is now. */
export interface PreviewState {
  readonly preview: DecisionPreview | null;
  readonly error: ApiError | null;
  readonly isStale: boolean;
}

/** Asks for the decision of a draft. Null or an empty prompt asks nothing. Costs assume `answerTokens` tokens of output. */
export function useDecision(draft: Draft | null, answerTokens?: number): PreviewState {
  const [state, setState] = useState<PreviewState>({ preview: null, error: null, isStale: false });
  // The question as text, so that an equal draft is not sent again.
  const question =
    draft === null || draft.prompt.trim() === "" ? null : JSON.stringify({ ...questionOf(draft), answerTokens });
  useEffect(() => {
    if (question === null) {
      setState({ preview: null, error: null, isStale: false });
      return;
    }
    const abort = new AbortController();
    // Stale from the first letter on, not only after the pause.
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
