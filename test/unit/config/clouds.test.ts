// Providers of clouds in the configuration: their addresses by region, and fields that do not belong there.

import { expect, test } from "vitest";
import { hasKey } from "../../../src/core/model.ts";
import { goodLoad, problemsOf } from "./workspace.ts";

const MODEL = "models:\n  - { id: m, provider: lab, price: { input: 1, output: 1 } }\n";
const yaml = (entry: string) => `catalog: none\nproviders:\n  lab: { ${entry} }\n${MODEL}`;

function load(entry: string, env: Record<string, string> = {}) {
  return goodLoad({ files: { "switchyard.yaml": yaml(entry) }, env }).settings.catalog.providers.get("lab");
}

const VERTEX = "kind: vertex, signIn: { project: p-1 }";

test.each([
  ["kind: bedrock, region: eu-central-1", "https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1"],
  ["kind: bedrock-converse, region: ap-south-1", "https://bedrock-runtime.ap-south-1.amazonaws.com"],
  ["kind: bedrock-anthropic, region: us-east-1", "https://bedrock-mantle.us-east-1.api.aws/anthropic"],
  ["kind: bedrock, region: us-east-1, baseUrl: 'https://own.example/v1'", "https://own.example/v1"],
  [
    `${VERTEX}, region: europe-west4`,
    "https://europe-west4-aiplatform.googleapis.com/v1/projects/p-1/locations/europe-west4/publishers/google",
  ],
  [
    "kind: vertex-anthropic, signIn: { project: p-1 }, region: eu",
    "https://aiplatform.eu.rep.googleapis.com/v1/projects/p-1/locations/eu/publishers/anthropic",
  ],
  [`${VERTEX}, region: global`, "https://aiplatform.googleapis.com/v1/projects/p-1/locations/global/publishers/google"],
])("%s is at %s", (entry, baseUrl) => {
  expect(load(entry)).toMatchObject({ baseUrl });
});

test("the region of AWS's own variables counts where none is written", () => {
  const region = { AWS_REGION: "ap-southeast-2", AWS_DEFAULT_REGION: "us-east-1" };
  expect(load("kind: bedrock", region)).toMatchObject({ region: "ap-southeast-2" });
  expect(load("kind: bedrock, region: eu-west-1", region)).toMatchObject({ region: "eu-west-1" });
});

test.each([
  ["kind: bedrock", "lab needs a region"],
  ["kind: vertex, region: global", "lab needs a region and signIn.project"],
  ["kind: bedrock, region: 'https://x', signIn: {}", "expected a region such as eu-central-1"],
  ["kind: bedrock, region: eu-west-1, signIn: { role: r }", "signIn has no field role for providers of kind bedrock"],
  ["kind: openai, baseUrl: 'https://x.example', region: us-east-1", "region is for providers of a cloud"],
])("%s: %s", (entry, message) => {
  const problems = problemsOf({ files: { "switchyard.yaml": yaml(entry) } });
  expect(problems.map((problem) => problem.message).join("\n")).toContain(message);
});

test("a provider that finds its own credentials does not lack a key", () => {
  const found = load("kind: bedrock, region: eu-west-1");
  expect(found !== undefined && hasKey(found)).toBe(true);
  const azure = "kind: azure, baseUrl: 'https://r.openai.azure.com'";
  const [entra, none] = [load(`${azure}, signIn: { method: entra }`), load(azure)];
  expect([entra !== undefined && hasKey(entra), none !== undefined && hasKey(none)]).toEqual([true, false]);
});
