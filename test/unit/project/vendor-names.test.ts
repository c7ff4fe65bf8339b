// gateway/ knows no wire format: fields, events and codes of vendors are in formats/ and the catalogue only. Outside of the
// folders that own them, no provider's kind or format is compared with a name.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";

const SRC = join(import.meta.dirname, "../../../src");

/** The contract of /v1 names fields on purpose: it is the description of the wire. */
const DESCRIPTIONS = [
  "http/openapi/",
  "http/pages/",
  "http/v1/call-operations.ts",
  "http/v1/contract.ts",
  "http/v1/gemini-contract.ts",
  "http/v1/media-contract.ts",
  "http/v1/responses/contract.ts",
  "http/v1/chat/contract.ts",
  "http/v1/batches/contract.ts",
  "http/v1/request-schemas.ts",
];

const VENDOR_NAMES = [
  ...["prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "cached_tokens"],
  ...["cache_write_tokens", "cache_write_1h_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"],
  ...["output_tokens_details", "reasoning_tokens", "ephemeral_1h_input_tokens"],
  ...["choices", "delta", "finish_reason", "stop_reason", "function_call", "reasoning_content", "x_groq"],
  ...[
    "content_block",
    "content_block_delta",
    "message_start",
    "message_delta",
    "message_stop",
    "tool_use",
    "tool_result",
  ],
  ...["max_tokens", "max_completion_tokens", "stream_options", "include_usage", "response_format", "reasoning_effort"],
  ...["output_config", "output_format", "stop_sequences", "thinking", "cache_control", "mcp_servers", "input_schema"],
  ...["anthropic-version", "anthropic-beta", "x-api-key", "after_id", "before_id", "has_more"],
  ...["insufficient_quota", "context_length_exceeded", "unsupported_parameter", "extra_forbidden"],
];

/** Routing reads the internal shape, whose messages carry these. */
const CHAT_SHAPE = ["tool_calls", "tool_call_id", "image_url", "input_audio"];

/** Of the classifier, which counts the choices of a test, and of prompts. */
const OTHER_MEANINGS: Readonly<Record<string, readonly string[]>> = { routing: ["choices", "thinking", "delta"] };

function filesIn(folder: string): readonly string[] {
  return readdirSync(join(SRC, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
}

/** The code alone: comments may well explain what a vendor does. */
function codeOf(file: string): string {
  const text = readFileSync(join(SRC, file), "utf8");
  return text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s*\/\/.*$/gm, "")
    .replace(/^import[^;]*;$/gm, "");
}

function namesIn(file: string, names: readonly string[]): readonly string[] {
  const code = codeOf(file);
  return names
    .filter((name) => new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(code))
    .map((name) => `${file}: ${name}`);
}

describe.each(["gateway", "billing", "routing", "http"])("%s/", (folder) => {
  const exceptions = OTHER_MEANINGS[folder] ?? [];
  const shape = folder === "routing" ? [] : CHAT_SHAPE;
  const names = [...VENDOR_NAMES, ...shape].filter((name) => !exceptions.includes(name));
  const files = filesIn(folder).filter((file) => !DESCRIPTIONS.some((place) => file.startsWith(place)));

  test("names no field, event, header or code of a vendor", () => {
    expect(files.length).toBeGreaterThan(5);
    expect(files.flatMap((file) => namesIn(file, names))).toEqual([]);
  });
});

test("gateway/ imports nothing from the folder of a format", () => {
  const formats = readdirSync(join(SRC, "formats")).filter((name) =>
    existsSync(join(SRC, "formats", name, "codec.ts")),
  );
  expect(formats).toContain("openai-responses");
  const importsFormat = new RegExp(`from "[./]*formats/(?:${formats.join("|")})/`);
  const found = filesIn("gateway").filter((file) => importsFormat.test(readFileSync(join(SRC, file), "utf8")));
  expect(found).toEqual([]);
});

describe("a provider's kind and a format's name", () => {
  const OWNERS = ["formats/", "catalog/", "providers/"];
  const NAMES = "openai|openai-chat|anthropic|sandbox";
  const COMPARED = [
    new RegExp(`(?:kind|format|name)\\)?\\s*[!=]==?\\s*"(?:${NAMES})"`, "g"),
    new RegExp(`"(?:${NAMES})"\\s*[!=]==?`, "g"),
    /case "(?:openai|openai-chat|anthropic)"/g,
  ];

  test("are compared with literals in their own rooms only", () => {
    const files = filesIn(".").filter((file) => !OWNERS.some((place) => relative(".", file).startsWith(place)));
    const found = files.flatMap((file) =>
      COMPARED.flatMap((pattern) => [...codeOf(file).matchAll(pattern)].map(([text]) => `${file}: ${text}`)),
    );
    expect(found).toEqual([]);
  });

  test("a provider's kind is read by nobody who decides", () => {
    const files = ["gateway", "routing", "billing"].flatMap(filesIn);
    const found = files.filter((file) => /provider\)?\??\.kind\s*[!=]==/.test(codeOf(file)));
    expect(found).toEqual([]);
  });
});
