// An account at AWS: Bedrock's runtime with its lists of models, and the token service that says whose keys they are. The
// account may use one profile of the catalogue, and no other.

import { type Behaviour, type FakeProvider, sends } from "../fake-provider.ts";
import type { Secret } from "./aws-check.ts";
import { says, startFakeBedrock } from "./fake-bedrock.ts";

export const IDENTITY = "arn:aws:iam::123456789012:user/gateway";
export const ENABLED = "eu.amazon.nova-micro-v1:0";

export async function startAccount(secrets: readonly Secret[]): Promise<FakeProvider> {
  const fake = await startFakeBedrock(secrets);
  fake.on("*", ACCOUNT);
  return fake;
}

const ACCOUNT: Behaviour = (exchange) => {
  const { path } = exchange.request;
  if (path === "/") return sends(200, WHO)(exchange);
  if (path === "/foundation-models")
    return sends(200, { modelSummaries: [{ modelId: "amazon.nova-micro-v1:0" }] })(exchange);
  if (path.startsWith("/inference-profiles?"))
    return sends(200, { inferenceProfileSummaries: [{ inferenceProfileId: ENABLED }] })(exchange);
  return says([{ text: "ok" }])(exchange);
};

const WHO = { GetCallerIdentityResponse: { GetCallerIdentityResult: { Arn: IDENTITY, Account: "123456789012" } } };
