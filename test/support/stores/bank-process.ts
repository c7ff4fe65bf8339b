// A built gateway in a process of its own, with a fake provider and some credit: for tests that look at it from outside.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { type GatewayProcess, startGatewayProcess } from "../gateway/gateway-process.ts";
import { type FakeProvider, startFakeProvider } from "../providers/fake-provider.ts";
import { bankYaml } from "./money.ts";

export interface BankProcess {
  readonly provider: FakeProvider;
  readonly gateway: GatewayProcess;
  close(): Promise<void>;
}

export async function startBankProcess(env: Readonly<Record<string, string>>): Promise<BankProcess> {
  await ensureBuild();
  const folder = mkdtempSync(join(tmpdir(), "switchyard-bank-"));
  const provider = await startFakeProvider();
  writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url));
  const gateway = await startGatewayProcess({ folder, env });
  await gateway.api("POST", "/api/credits/topups", { amountUsd: "10", note: "plain" });
  return {
    provider,
    gateway,
    async close() {
      await gateway.kill();
      await provider.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
