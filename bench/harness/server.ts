// A server under test, in a process of its own or several.

import type { Target } from "../clients/connection.ts";
import type { ServerWork } from "./child.ts";
import type { Child } from "./processes.ts";

export interface Server {
  /** Row of the server in the tables. */
  readonly name: string;
  readonly target: Target;
  readonly process: Child<ServerWork>;
  /** Number of processes that serve, where there are several: each compiles its code for itself. */
  readonly workers?: number;
}
