// Hosts that stand for any provider of a cloud, such as inference profiles of Bedrock: which host of a model applies from which region, and what it costs there.

import { describe, expect, it } from "vitest";
import { readBuiltin } from "../../../src/catalog/builtin.ts";
import { withProfiles } from "../../../src/catalog/profiles.ts";
import type { ModelRow } from "../../../src/catalog/rows.ts";
import { goodLoad } from "../config/workspace.ts";

const BUILTIN = new Map(readBuiltin().models.map((row) => [row.id, row]));
const KIND = "bedrock-converse";
const cloud = (id: string, region: string, kind = KIND) => ({ provider: { id, region, kind } });
const namesOf = (row: ModelRow | undefined) => row?.hosts?.map(({ provider, upstream }) => `${provider}: ${upstream}`);

describe("profiles", () => {
  it.each([
    ["us-east-1", ["a: us.amazon.nova-pro-v1:0"]],
    ["eu-central-1", ["a: eu.amazon.nova-pro-v1:0"]],
    ["ap-south-1", ["a: apac.amazon.nova-pro-v1:0"]],
    ["sa-east-1", undefined],
    ["us-gov-west-1", undefined],
  ])("from %s", (region, names) => {
    expect(namesOf(withProfiles(BUILTIN, [cloud("a", region)]).get("nova-pro"))).toEqual(names);
  });

  it("of several providers are hosts beside each other, and other hosts stay", () => {
    const rows = withProfiles(BUILTIN, [cloud("a", "us-west-2"), cloud("b", "eu-west-1")]);
    expect(namesOf(rows.get("nova-lite"))).toEqual(["a: us.amazon.nova-lite-v1:0", "b: eu.amazon.nova-lite-v1:0"]);
    const llama = rows.get("llama-3.3-70b");
    expect(namesOf(llama)).toContain("a: us.meta.llama3-3-70b-instruct-v1:0");
    const others = (row?: ModelRow) => row?.hosts?.filter(({ callFrom }) => callFrom === undefined);
    expect(others(llama)).toEqual(others(BUILTIN.get("llama-3.3-70b")));
  });

  it("are not those of a provider that speaks another format", () => {
    expect(withProfiles(BUILTIN, [cloud("amazon-bedrock", "us-east-1", "bedrock")]).get("nova-pro")).toBeUndefined();
    expect(withProfiles(BUILTIN, [cloud("openai", "us-east-1", "openai")])).toEqual(BUILTIN);
  });

  it.each([
    ["global", 2, []],
    ["eu", 2.2, ["eu"]],
    ["us-east5", 2.2, ["us-east5"]],
  ])("of Claude at Vertex cost what the endpoint %s costs", (region, input, regions) => {
    const yaml = [
      "providers:",
      `  v: { kind: vertex-anthropic, region: ${region}, regions: [${region === "global" ? "eu" : region}], signIn: { project: p } }`,
      `  s: { kind: openai, baseUrl: "http://127.0.0.1:1/v1" }`,
    ].join("\n");
    const { catalog } = goodLoad({ files: { "switchyard.yaml": yaml } }).settings;
    const host = catalog.models.get("claude-sonnet-5-5")?.hosts.find(({ provider }) => provider === "v");
    expect(host?.price?.input).toBe(input * 1e6);
    expect(host?.regions).toEqual(regions);
  });

  it("of Gemini at Vertex are those of its endpoint for the world", () => {
    const of = (region: string) =>
      namesOf(withProfiles(BUILTIN, [cloud("v", region, "vertex")]).get("gemini-3.8-flash"))?.includes(
        "v: gemini-3.8-flash",
      );
    expect([of("global"), of("europe-west4")]).toEqual([true, false]);
  });

  it("of Claude in Foundry are named by deployments, at the price there", () => {
    const entry = (more: string) =>
      `providers:\n  f: { kind: azure-anthropic, baseUrl: "https://r.services.ai.azure.com/anthropic", apiKey: k${more} }\n`;
    const { models } = goodLoad({
      files: { "switchyard.yaml": entry(", deployments: { claude-haiku-5-5: prod-1 }") },
    }).settings.catalog;
    const hosts = models.get("claude-haiku-5-5")?.hosts.filter(({ provider }) => provider === "f");
    expect(hosts?.map(({ upstream, price }) => [upstream, price?.input])).toEqual([["prod-1", 100_000]]);
    const named = entry("").replace("  f:", "  azure-foundry:");
    const all = goodLoad({ files: { "switchyard.yaml": named } }).settings.catalog.models;
    expect(all.get("claude-opus-5-5")?.hosts.map(({ provider }) => provider)).toContain("azure-foundry");
  });

  it("have price, format and regions of their own", () => {
    const yaml = "providers:\n  a: { kind: bedrock-converse, region: eu-central-1, regions: [eu-central-1] }\n";
    const { models } = goodLoad({ files: { "switchyard.yaml": yaml } }).settings.catalog;
    const nova = models.get("nova-2-lite");
    expect(nova?.hosts.map(({ upstream, regions }) => [upstream, regions])).toEqual([
      ["eu.amazon.nova-2-lite-v1:0", ["eu"]],
      // It may answer anywhere, whatever the provider says of itself.
      ["global.amazon.nova-2-lite-v1:0", []],
    ]);
    expect(nova?.hosts.map(({ price }) => price?.input)).toEqual([429_000, 300_000]);
    expect(nova?.cache).toMatchObject({ isExplicit: true });
    expect(models.get("titan-embed-text-v2")).toBeUndefined();
  });
});
