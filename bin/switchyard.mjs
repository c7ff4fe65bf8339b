#!/usr/bin/env node
// @ts-check
// The switchyard command, which is also npm start. In a checkout it first builds what is stale, so the command is never
// older than the sources. A package comes built, without them.

import { existsSync } from "node:fs";
import { launch, nodeProblem } from "../scripts/launch.mjs";

const problem = nodeProblem();
if (problem !== null) {
  console.error(problem);
  process.exit(1);
}
if (existsSync(new URL("../src", import.meta.url))) {
  const { buildSiteInBackground, ensureBuild, runScript } = await import("../scripts/setup.mjs");
  await runScript(ensureBuild);
  const [command = "serve"] = process.argv.slice(2);
  if (command === "serve" || command.startsWith("-")) buildSiteInBackground();
}
await launch();
