// @ts-check
// npm run audit: known holes in all packages. Fails when what a release is made of has a serious one, and when the registry
// does not say: nothing was checked then. npm test only reports.

import { auditLine, auditPackages } from "./setup/audit.mjs";
import { ROOT } from "./setup/files.mjs";
import { ensureBuild, ensureSite, runScript } from "./setup.mjs";

await runScript(async () => {
  await ensureBuild();
  await ensureSite();
  const verdict = await auditPackages(ROOT);
  console.log(auditLine(verdict));
  process.exitCode = verdict.state === "clean" ? 0 : 1;
});
