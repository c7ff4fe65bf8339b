// Malformed messages: 422, with the place of what is wrong. Behaviour 4.4.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROLES } from "../../../src/core/chat.ts";
import { expectError } from "../../support/errors.ts";
import { labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: labYaml(provider.url) });
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

const user = { role: "user", content: "Hello" };
const assistant = (call: object) => ({ role: "assistant", content: null, tool_calls: [call] });

const malformed: readonly (readonly [string, object, string])[] = [
  ["no messages", {}, "messages"],
  ["null messages", { messages: null }, "messages"],
  ["empty messages", { messages: [] }, "messages"],
  ["messages as an object", { messages: {} }, "messages"],
  ["messages as text", { messages: "Hello" }, "messages"],
  ["a message that is text", { messages: ["Hello"] }, "messages[0]"],
  ["a message that is null", { messages: [user, null] }, "messages[1]"],
  ["a message that is an array", { messages: [[user]] }, "messages[0]"],
  ["no role", { messages: [{ content: "x" }] }, "messages[0].role"],
  ["an unknown role", { messages: [user, { role: "wizard", content: "x" }] }, "messages[1].role"],
  ["a role in other case", { messages: [{ role: "User", content: "x" }] }, "messages[0].role"],
  ["a role that is a number", { messages: [{ role: 1, content: "x" }] }, "messages[0].role"],
  ["a role from the prototype", { messages: [{ role: "constructor", content: "x" }] }, "messages[0].role"],
  ["content as a number", { messages: [{ role: "user", content: 5 }] }, "messages[0].content"],
  ["content as an object", { messages: [{ role: "user", content: {} }] }, "messages[0].content"],
  ["content as true", { messages: [{ role: "user", content: true }] }, "messages[0].content"],
  ["no content from a user", { messages: [{ role: "user" }] }, "messages[0].content"],
  ["null content from a user", { messages: [{ role: "user", content: null }] }, "messages[0].content"],
  ["a part that is text", { messages: [{ role: "user", content: ["x"] }] }, "messages[0].content[0]"],
  ["a part that is null", { messages: [{ role: "user", content: [null] }] }, "messages[0].content[0]"],
  ["a part without a type", { messages: [{ role: "user", content: [{ text: "x" }] }] }, "messages[0].content[0]"],
  [
    "a text part without text",
    { messages: [{ role: "user", content: [{ type: "text" }] }] },
    "messages[0].content[0].text",
  ],
  [
    "a text part with a number",
    { messages: [{ role: "user", content: [{ type: "text", text: 5 }] }] },
    "messages[0].content[0].text",
  ],
  [
    "an image without a url",
    { messages: [{ role: "user", content: [{ type: "image_url", image_url: {} }] }] },
    "messages[0].content[0].image_url",
  ],
  [
    "tool calls as an object",
    { messages: [user, { role: "assistant", content: "", tool_calls: {} }] },
    "messages[1].tool_calls",
  ],
  [
    "a tool call that is text",
    { messages: [user, { role: "assistant", content: "", tool_calls: ["x"] }] },
    "messages[1].tool_calls",
  ],
  [
    "tool arguments as an object",
    { messages: [user, assistant({ id: "a", function: { name: "f", arguments: { a: 1 } } })] },
    "messages[1].tool_calls[0].function",
  ],
  [
    "a tool name that is a number",
    { messages: [user, assistant({ id: "a", function: { name: 7, arguments: "{}" } })] },
    "messages[1].tool_calls[0].function",
  ],
];

describe("422 at /v1/chat/completions", () => {
  it.each(malformed)("%s", async (_name, body, param) => {
    const answer = await gateway.post("/v1/chat/completions", { model: "auto", ...body });
    const error = await expectError(answer, { status: 422, code: "invalid_messages", param });
    expect(error.message).toContain(param);
    expect(provider.requests).toEqual([]);
  });
});

describe("422 at /v1/routing/debug", () => {
  it.each(malformed.filter(([, body]) => Object.values(body)[0] != null))("%s", async (_name, body, param) => {
    const answer = await gateway.post("/v1/routing/debug", { prompt: "x", ...body });
    await expectError(answer, { status: 422, code: "invalid_messages", param });
  });
});

describe("what the format allows", () => {
  const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
  const allowed: readonly (readonly [string, readonly object[]])[] = [
    ...ROLES.map((role) => [`role ${role}`, [user, { role, content: "x", tool_call_id: "a", name: "f" }]] as const),
    ["null content with tool calls", [user, assistant(call)]],
    ["no content with tool calls", [user, { role: "assistant", tool_calls: [call] }]],
    ["null content of an assistant", [user, { role: "assistant", content: null }]],
    ["null tool calls", [user, { role: "assistant", content: "x", tool_calls: null }, user]],
    ["a call without function", [user, assistant({ id: "a", type: "custom", custom: { name: "f", input: "x" } })]],
    ["null arguments", [user, assistant({ id: "a", function: { name: "f", arguments: null } })]],
    ["empty content", [{ role: "user", content: "" }]],
    ["empty parts", [{ role: "user", content: [] }]],
    ["a refusal part", [user, { role: "assistant", content: [{ type: "refusal", refusal: "no" }] }, user]],
    ["parts nobody knows", [{ role: "user", content: [{ type: "hologram", data: 1 }] }]],
    ["fields nobody knows", [{ role: "user", content: "x", mood: "happy" }]],
    ["a system message only", [{ role: "system", content: "Write a poem." }]],
  ];

  it.each(allowed)("%s is answered", async (_name, messages) => {
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
    for (const extra of [{}, { tools }]) {
      const answer = await gateway.post("/v1/chat/completions", { model: "auto", messages, ...extra });
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"service"')]);
    }
  });
});
