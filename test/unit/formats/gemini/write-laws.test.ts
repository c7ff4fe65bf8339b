// Laws that hold for any chat-completions conversation written for Google, however broken its history is.

import { expect, it } from "vitest";
import { fc } from "../../../support/property.ts";
import { type Json, write } from "./provider-end.ts";

const words = fc.oneof(fc.constant(""), fc.constant(" "), fc.stringMatching(/^[a-z{}"é ]{1,8}$/));
const id = fc.constantFrom("call_0", "call_1", "a", "b", "");
const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const toolCall = fc
  .tuple(id, fc.constantFrom("one", "two"), words, fc.option(words))
  .map(([given, name, args, signature]) => ({
    id: given,
    type: "function",
    function: { name, arguments: args },
    ...(signature === null ? {} : { extra_content: { google: { thought_signature: signature } } }),
  }));
const detail = fc.record({
  type: fc.constantFrom("reasoning.encrypted", "reasoning.text"),
  format: fc.constantFrom("gemini", "anthropic"),
  data: words,
  text: words,
  signature: words,
});
const message: fc.Arbitrary<Json> = fc.oneof(
  words.map((content) => ({ role: "user", content })),
  words.map((text) => ({ role: "user", content: [{ type: "text", text }, image] })),
  words.map((content) => ({ role: "system", content })),
  fc
    .tuple(
      fc.option(words),
      fc.uniqueArray(toolCall, { maxLength: 3, selector: (call) => call.id }),
      fc.array(detail, { maxLength: 2 }),
    )
    .map(([content, calls, details]) => ({
      role: "assistant",
      content,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
    })),
  fc.tuple(id, words).map(([callId, content]) => ({ role: "tool", tool_call_id: callId, content })),
);

interface Turn {
  readonly role: string;
  readonly parts: readonly Json[];
}

const countOf = ({ parts }: Turn, name: string): number => parts.filter((part) => part[name] !== undefined).length;

it("turns alternate, begin and end with the user, and answer every call once", () => {
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 8 }), fc.boolean(), (messages, needsThoughtSignatures) => {
      const { json } = write({ messages }, { model: { dialect: { needsThoughtSignatures } } });
      const turns = json.contents as readonly Turn[];
      expect(turns[0]?.role).toBe("user");
      expect(turns.at(-1)?.role).toBe("user");
      for (const [index, turn] of turns.entries()) {
        const next = turns[index + 1];
        if (next !== undefined) expect(next.role).not.toBe(turn.role);
        if (turn.role === "model") {
          expect(turn.parts.length).toBeGreaterThan(0);
          expect(countOf(next as Turn, "functionResponse")).toBe(countOf(turn, "functionCall"));
          const first = turn.parts.find((part) => part.functionCall !== undefined);
          if (needsThoughtSignatures && first !== undefined) expect(first.thoughtSignature).not.toBe("");
        }
        for (const part of turn.parts)
          if (part.thoughtSignature === undefined) expect(part.text ?? "x").not.toMatch(/^\s*$/);
      }
      const responses = turns.flatMap(({ parts }) => parts.filter((part) => part.functionResponse !== undefined));
      for (const { functionResponse } of responses as { functionResponse: Json }[]) {
        expect(functionResponse.response).toBeTypeOf("object");
        expect(functionResponse.name).toMatch(/^(one|two)$/);
      }
    }),
    { numRuns: 300 },
  );
});
