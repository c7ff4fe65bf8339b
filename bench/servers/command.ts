// The built program of a checkout with the arguments of its command. In one process it also answers the benchmark.

import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { answerParent, SERVER_WORK } from "../harness/child.ts";

const [program = "", ...args] = process.argv.slice(2);
const launcher = new URL("../../scripts/launch.mjs", pathToFileURL(program));
if (existsSync(launcher)) {
  // Older versions keep no compiled code.
  const { keepCompiledCode } = (await import(launcher.href)) as { readonly keepCompiledCode?: () => void };
  keepCompiledCode?.();
}
const { main } = (await import(pathToFileURL(program).href)) as { main(args: readonly string[]): Promise<void> };
if (process.connected) answerParent(null, SERVER_WORK);
await main(args);
