// Something that a press of a button does: whether it still runs, and what went wrong.

import { useState } from "preact/hooks";
import type { ApiError } from "../api.ts";
import { Problem } from "./states.tsx";

export function useTask() {
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const run = async <T,>(work: Promise<T>, onDone: (result: T) => void = () => undefined): Promise<void> => {
    setBusy(true);
    setError(null);
    await work.then(onDone, (problem: unknown) => setError(problem as ApiError));
    setBusy(false);
  };
  return { error, problem: <Problem error={error} />, isBusy, run };
}
