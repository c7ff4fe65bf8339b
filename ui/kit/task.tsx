// Something that a press of a button does: whether it still runs, and what went wrong.

import { useState } from "preact/hooks";
import { type ApiError, call } from "../api.ts";
import { Button } from "./button.tsx";
import { Problem } from "./states.tsx";
import * as TEXT from "./text.ts";

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

interface DeleteButtonProps {
  readonly path: string;
  readonly onDone: () => void;
}

/** Deletes what a dialog shows. It asks once more by its own label. */
export function DeleteButton({ path, onDone }: DeleteButtonProps) {
  const [isAsked, setAsked] = useState(false);
  const { problem, isBusy, run } = useTask();
  const remove = (): Promise<void> => run(call("DELETE", path), onDone);
  return (
    <>
      {problem}
      <Button kind={isAsked ? "danger" : "plain"} isBusy={isBusy} onClick={isAsked ? remove : () => setAsked(true)}>
        {isAsked ? TEXT.deleteForGood : TEXT.deleteIt}
      </Button>
    </>
  );
}
