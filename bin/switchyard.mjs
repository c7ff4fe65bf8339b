#!/usr/bin/env node
// @ts-check
// The switchyard command. In a checkout it first builds what is stale, so the command is never older than the sources.

import { launch } from "../scripts/setup/launch.mjs";
import { runScript, setUp } from "../scripts/setup.mjs";

await runScript(() => setUp());
await launch();
