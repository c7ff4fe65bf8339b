// The gateway as its command starts it, for what needs its worker processes.

import { main } from "../../src/main.ts";

await main(process.argv.slice(2));
