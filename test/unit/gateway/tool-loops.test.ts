// Which model goes on with a tool loop: found by the ids of the calls, forgotten when there are too many.

import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../../src/core/chat.ts";
import { clientToolId } from "../../../src/formats/wire/tool-calls.ts";
import { createToolLoops } from "../../../src/gateway/tool-loops.ts";

const ACCOUNT = { accountId: "a", requestId: "req_1" };
const ask: ChatMessage = { role: "user", content: "Look it up" };
const calling = (...ids: string[]): ChatMessage => ({ role: "assistant", tool_calls: ids.map((id) => ({ id })) });
const result = (id: string): ChatMessage => ({ role: "tool", tool_call_id: id, content: "x" });
const note: ChatMessage = { role: "user", content: "<system-reminder>be nice</system-reminder>" };

function loops() {
  const made = createToolLoops();
  made.note(ACCOUNT, ["call_x", "functions.f:0"], "maker");
  return made;
}

describe("an open loop", () => {
  it.each<readonly [string, readonly ChatMessage[], string | null]>([
    ["a result", [ask, calling("call_x"), result("call_x")], "maker"],
    ["an id of another shape", [ask, calling("functions.f:0"), result("functions.f:0")], "maker"],
    ["one known call among others", [ask, calling("new", "call_x"), result("new"), result("call_x")], "maker"],
    ["notes after the result", [ask, calling("call_x"), result("call_x"), note], "maker"],
    [
      "a system message after the result",
      [ask, calling("call_x"), result("call_x"), { role: "system", content: "now" }],
      "maker",
    ],
    [
      "a new ask beside the result",
      [ask, calling("call_x"), result("call_x"), { role: "user", content: "Stop" }],
      null,
    ],
    [
      "an answer after the result",
      [ask, calling("call_x"), result("call_x"), { role: "assistant", content: "So." }],
      null,
    ],
    ["no result yet", [ask, calling("call_x")], null],
    ["a call nobody knows", [ask, calling("other"), result("other")], null],
    ["nothing", [], null],
  ])("%s", (_name, messages, model) => {
    expect(loops().modelOf("a", messages)).toBe(model);
  });

  it("belongs to its account", () => {
    expect(loops().modelOf("b", [ask, calling("call_x"), result("call_x")])).toBeNull();
  });

  it("is not taken for another one when the host gives no ids of its own", () => {
    const made = createToolLoops();
    made.note({ accountId: "a", requestId: "req_1" }, ["call_0"], "one");
    made.note({ accountId: "a", requestId: "req_2" }, ["call_0"], "two");
    expect(made.modelOf("a", [ask, calling("call_0"), result("call_0")])).toBeNull();
    for (const [requestId, model] of [
      ["req_1", "one"],
      ["req_2", "two"],
    ] as const) {
      const id = clientToolId("call_0", 0, { requestId });
      expect(made.modelOf("a", [ask, calling(id), result(id)])).toBe(model);
    }
  });

  it("is forgotten when very many came after it, but not at once", () => {
    const made = loops();
    const fill = (from: number): void => {
      for (let at = from; at < from + 19_999; at += 1) made.note(ACCOUNT, [`call_fill_${at}`], "other");
    };
    fill(0);
    expect(made.modelOf("a", [ask, calling("call_x"), result("call_x")])).toBe("maker");
    fill(20_000);
    fill(40_000);
    expect(made.modelOf("a", [ask, calling("call_x"), result("call_x")])).toBeNull();
  });
});
