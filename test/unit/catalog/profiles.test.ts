// Inference profiles of Bedrock: which host of a model applies from which region, and what it costs there.

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
