// The built program of a checkout with the arguments of its command. In one process it also answers the benchmark.

import { pathToFileURL } from "node:url";
import { answerParent, SERVER_WORK } from "../harness/child.ts";

const [program = "", ...args] = process.argv.slice(2);
const { main } = (await import(pathToFileURL(program).href)) as { main(args: readonly string[]): Promise<void> };
if (process.connected) answerParent(null, SERVER_WORK);
await main(args);
