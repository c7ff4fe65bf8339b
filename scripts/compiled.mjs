// @ts-check
// node scripts/compiled.mjs bench/main ARGUMENTS: compiles a TypeScript program outside of src/ and runs it.

import { runCompiled } from "./setup/compiled.mjs";
import { runScript } from "./setup.mjs";

const [program = "", ...args] = process.argv.slice(2);
await runScript(() => runCompiled(program, args));
