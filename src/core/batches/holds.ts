// Names of the holds of batches and of their lines. The name of a line's hold tells the batch, the line and the run.

/** Owner of holds that belong to no process, so that they are not released when one dies. */
export const BATCH_OWNER = "batch";
const BATCH_HOLD = /^(batch:[^:]+)(:|$)/;
/** Holds that one run of a line takes at most: those of a cascade, and one if that is not covered. */
const HOLDS_PER_RUN = 3;

export function batchHoldId(batchId: string): string {
  return `batch:${batchId}`;
}

/** True for the hold of a batch, and for those of its lines. */
export function isOfBatch(holdId: string): boolean {
  return holdId.startsWith("batch:");
}

/** The id of the hold that this one is taken from; null for holds that are taken from the wallet. */
export function sharedHoldOf(holdId: string): string | null {
  const [, shared, end] = BATCH_HOLD.exec(holdId) ?? [];
  return shared === undefined || end === "" ? null : shared;
}

export interface LineRun {
  readonly batchId: string;
  readonly position: number;
  /** Counts the times that the line was begun. */
  readonly run: number;
}

/** The ids of all holds that a run of a line may take. No other run has them, so what ends them ends the run. */
export function lineHoldIds({ batchId, position, run }: LineRun): readonly string[] {
  return Array.from({ length: HOLDS_PER_RUN }, (_, at) => `${batchHoldId(batchId)}:${position}:${run}:${at}`);
}
