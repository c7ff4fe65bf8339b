// Ends what a test put in the place of clocks, functions, globals and variables. Tests and most files share a process.

import { afterEach, vi } from "vitest";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});
