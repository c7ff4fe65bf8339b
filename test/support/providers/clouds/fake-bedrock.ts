// Bedrock's runtime: Converse whole and as an event stream, for requests whose signature is right.

import { type Behaviour, type FakeProvider, sends, startFakeProvider } from "../fake-provider.ts";
import { type Secret, signatureProblem } from "./aws-check.ts";
import { event } from "./event-stream.ts";

export type Block = Readonly<Record<string, unknown>>;

const USAGE = { inputTokens: 12, outputTokens: 5, totalTokens: 17 };

interface Saying {
  readonly usage?: object | null;
  readonly stopReason?: string;
}

/** A fake that takes nothing that is not signed with one of these. */
export async function startFakeBedrock(secrets: readonly Secret[]): Promise<FakeProvider> {
  const fake = await startFakeProvider(checked(secrets, says([{ text: "ok" }])));
  return { ...fake, on: (model, then) => fake.on(model, checked(secrets, then)) };
}

function checked(secrets: readonly Secret[], then: Behaviour): Behaviour {
  return (exchange) => {
    const problem = signatureProblem(exchange.request, secrets);
    return (problem === null ? then : sends(403, { message: problem }))(exchange);
  };
}

/** A whole answer or a stream, as the path asks. */
export function says(content: readonly Block[], { usage = USAGE, stopReason }: Saying = {}): Behaviour {
  const calls = content.some(({ toolUse }) => toolUse !== undefined);
  const reason = stopReason ?? (calls ? "tool_use" : "end_turn");
  return (exchange) => {
    if (exchange.request.path.endsWith("/converse-stream"))
      return streams([...eventsOf(content, reason), ...metadata(usage)])(exchange);
    const answer = {
      output: { message: { role: "assistant", content } },
      stopReason: reason,
      metrics: { latencyMs: 5 },
    };
    return sends(200, usage === null ? answer : { ...answer, usage })(exchange);
  };
}

export function metadata(usage: object | null): readonly Buffer[] {
  return [event("metadata", { ...(usage === null ? {} : { usage }), metrics: { latencyMs: 5 }, p: "abc" })];
}

/** The content in small pieces, as a model writes it. */
export function eventsOf(content: readonly Block[], stopReason = "end_turn"): readonly Buffer[] {
  return [
    event("messageStart", { role: "assistant" }),
    ...content.flatMap((block, contentBlockIndex) => [
      ...(block.toolUse === undefined ? [] : [begins(block.toolUse as Block, contentBlockIndex)]),
      ...deltasOf(block).map((delta) => event("contentBlockDelta", { contentBlockIndex, delta })),
      event("contentBlockStop", { contentBlockIndex }),
    ]),
    event("messageStop", { stopReason }),
  ];
}

function begins({ toolUseId, name }: Block, contentBlockIndex: number): Buffer {
  return event("contentBlockStart", { contentBlockIndex, start: { toolUse: { toolUseId, name } } });
}

function deltasOf({ text, toolUse, reasoningContent }: Block): readonly Block[] {
  if (toolUse !== undefined) {
    const { input } = toolUse as Block;
    const isEmpty = Object.keys(input as object).length === 0;
    return isEmpty ? [] : piecesOf(JSON.stringify(input)).map((piece) => ({ toolUse: { input: piece } }));
  }
  if (reasoningContent !== undefined) {
    const { reasoningText, redactedContent } = reasoningContent as Block;
    if (redactedContent !== undefined) return [{ reasoningContent: { redactedContent } }];
    const { text: thought, signature } = reasoningText as Block;
    return [
      ...piecesOf(String(thought)).map((piece) => ({ reasoningContent: { text: piece } })),
      ...(signature === undefined ? [] : [{ reasoningContent: { signature } }]),
    ];
  }
  return piecesOf(String(text)).map((piece) => ({ text: piece }));
}

function piecesOf(text: string): readonly string[] {
  return text.match(/[\s\S]{1,7}/g) ?? [];
}

export function streams(messages: readonly Buffer[], end: "ends" | "is cut" = "ends"): Behaviour {
  return async ({ response, socket }) => {
    response.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
    for (const message of messages) {
      const written = new Promise((resolve) => response.write(message, resolve));
      await written;
    }
    if (end === "ends") response.end();
    else setImmediate(() => socket.destroy());
  };
}
