// @ts-check
// npm run audit: known holes in what the gateway is served with. Fails when there is a serious one; when the registry
// cannot be asked, says so and succeeds.

import { auditDependencies } from "./setup/audit.mjs";
import { here } from "./setup/surroundings.mjs";
import { runScript } from "./setup.mjs";

const MARKS = { clean: "✓", skipped: "–", found: "✗" };

await runScript(async () => {
  const { state, line } = await auditDependencies(here());
  console.log(`${MARKS[state]} audit: ${state === "skipped" ? "skipped, " : ""}${line}`);
  process.exitCode = state === "found" ? 1 : 0;
});
