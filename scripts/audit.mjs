// @ts-check
// npm run audit: known holes in what the gateway is served with. Fails when there is a serious one; when the registry
// cannot be asked, says so and succeeds.

import { auditDependencies, auditLine } from "./setup/audit.mjs";
import { here } from "./setup/surroundings.mjs";
import { runScript, setUp } from "./setup.mjs";

await runScript(async () => {
  await setUp();
  const verdict = await auditDependencies(here());
  console.log(auditLine(verdict));
  process.exitCode = verdict.state === "found" ? 1 : 0;
});
