// @ts-check
// npm start: sets up what is missing, then serves. What follows `npm start --` goes to the program.

import { launch } from "./setup/launch.mjs";
import { runScript, setUp } from "./setup.mjs";

await runScript(() => setUp());
await launch();
