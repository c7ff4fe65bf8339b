// Files share a process, so that what a test puts in the place of clocks, functions, globals or variables ends with it.

import { afterEach, vi } from "vitest";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});
