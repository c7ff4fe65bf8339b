// The private messages of Node's cluster module, on the Node that runs the tests: src/workers/node-messages.ts understands
// them. With a Node that changed them, connections of workers would be lost without a word.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const PROBE = fileURLToPath(new URL("../../support/gateway/cluster-probe.mjs", import.meta.url));

/** Advice for anyone who tries a new Node. */
const ADVICE =
  `The cluster module of Node ${process.version} does not send what src/workers/node-messages.ts expects. Compare that ` +
  "file with lib/internal/cluster of this Node (primary.js, round_robin_handle.js, child.js) and adapt it. Until then, " +
  "this Node can serve with server.workers: 1 only";

beforeAll(() => ensureBuild());

test("Node hands connections over, and learns of a worker's end, by the messages that are intercepted", () => {
  const { stdout, stderr } = spawnSync(process.execPath, [PROBE], { encoding: "utf8", timeout: 300_000 });
  expect([stderr, ...stdout.trim().split("\n")], ADVICE).toEqual([
    "",
    "hands a connection over",
    "acknowledges a connection",
    "serves a connection that was delivered later",
    "does not learn of an end that is held back",
    "learns of an end that is released",
    "acknowledges a connection that was passed on",
    "serves a connection that was passed on",
  ]);
});
