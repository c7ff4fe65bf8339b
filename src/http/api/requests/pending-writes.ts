// Waiting, for a moment, until what was just recorded can be read.

import type { Records } from "../../context.ts";

const CATCH_UP_MS = 2_000;

/** Who asks right after a request wants to see it; a store that is stuck is not waited for. */
export async function caughtUp({ recorder }: Records): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CATCH_UP_MS);
  });
  await Promise.race([recorder.flush(), patience]);
  clearTimeout(timer);
}
