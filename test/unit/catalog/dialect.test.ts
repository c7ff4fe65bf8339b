// What each host is sent: facts of the vendors, held against the built catalogue.

import { describe, expect, it } from "vitest";
import { buildCatalog } from "../../../src/catalog/build.ts";
import { mergeDialects, PLAIN_DIALECT } from "../../../src/catalog/dialect.ts";
import type { Dialect } from "../../../src/core/model.ts";

const { catalog } = buildCatalog();

function dialectOf(id: string): Dialect | undefined {
  return catalog?.models.get(id)?.dialect;
}

describe("mergeDialects", () => {
  it("is plain without changes", () => {
    expect(mergeDialects()).toEqual(PLAIN_DIALECT);
    expect(mergeDialects(undefined, {})).toEqual(PLAIN_DIALECT);
  });

  it("lets the later change win, and adds up what is refused and renamed", () => {
    const merged = mergeDialects(
      { outputCap: "max_tokens", refuses: ["user", "store"], renames: { seed: "random_seed" } },
      { outputCap: "max_completion_tokens", refuses: ["store", "stop"], renames: { n: "count" } },
    );
    expect(merged.outputCap).toBe("max_completion_tokens");
    expect(merged.refuses).toEqual(["user", "store", "stop"]);
    expect(merged.renames).toEqual({ seed: "random_seed", n: "count" });
  });
});

describe("dialects that ship", () => {
  it.each(["gpt-5.4-mini", "gpt-5", "o3"])("%s takes max_completion_tokens and no sampling", (id) => {
    expect(dialectOf(id)?.outputCap).toBe("max_completion_tokens");
    expect(dialectOf(id)?.refuses).toEqual(expect.arrayContaining(["temperature", "top_p", "stop", "logprobs"]));
    expect(dialectOf(id)?.hasDeveloperRole).toBe(true);
  });

  it("gpt-4.1 is left as sent", () => {
    expect(dialectOf("gpt-4.1")).toMatchObject({ outputCap: "as-sent", refuses: [] });
  });

  it("Mistral has its own names and tool ids", () => {
    expect(dialectOf("mistral-small-latest")).toMatchObject({
      outputCap: "max_tokens",
      renames: { seed: "random_seed" },
      toolIds: "alphanumeric-9",
      takesMessageNames: false,
      takesStreamOptions: false,
    });
    expect(dialectOf("mistral-small-latest")?.refuses).toEqual(expect.arrayContaining(["user", "logprobs", "store"]));
  });

  it("Groq takes neither probabilities nor names", () => {
    expect(dialectOf("gpt-oss-120b")?.refuses).toEqual(["logprobs", "logit_bias", "top_logprobs"]);
    expect(dialectOf("gpt-oss-120b")?.takesMessageNames).toBe(false);
  });

  it("Claude after Opus 4.6 takes no sampling fields, and earlier ones do", () => {
    expect(dialectOf("claude-sonnet-5")?.refuses).toContain("temperature");
    expect(dialectOf("claude-opus-4-5")?.refuses).not.toContain("temperature");
  });
});
