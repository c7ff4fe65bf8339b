// @ts-check
// npm run audit: known holes in all packages. Fails when what a release is made of has a serious one; when the registry
// cannot be asked, says so and succeeds.

import { auditLine, auditPackages } from "./setup/audit.mjs";
import { ROOT } from "./setup/files.mjs";
import { ensureBuild, ensureSite, runScript } from "./setup.mjs";

await runScript(async () => {
  await ensureBuild();
  await ensureSite();
  const verdict = await auditPackages(ROOT);
  console.log(auditLine(verdict));
  process.exitCode = verdict.state === "found" ? 1 : 0;
});
