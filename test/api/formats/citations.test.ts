// Citations of a chat-completions host that searched by itself, for clients of other formats, whole and streamed.

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { chunk, completion, sends, streams, textChunks, USAGE } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";

let mixed: Mixed;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  mixed = await startMixed();
  const { url, key } = mixed.gateway;
  openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

const TEXT = "Rome is old.";
const PAGE = { url: "https://rome.example", title: "On Rome" };
const ANNOTATION = { type: "url_citation", url_citation: { ...PAGE, start_index: 0, end_index: 4 } };
const DIRECT = { model: "alpha", service_profile: "direct" };
const ASK = { ...DIRECT, input: "Rome?" } as OpenAI.Responses.ResponseCreateParamsNonStreaming;
const ASKED = {
  ...DIRECT,
  max_tokens: 50,
  messages: [{ role: "user", content: "Rome?" }],
} as unknown as Anthropic.MessageCreateParamsNonStreaming;

const IN_RESPONSES = [{ type: "url_citation", ...PAGE, start_index: 0, end_index: 4 }];
const IN_MESSAGES = [{ type: "web_search_result_location", ...PAGE, encrypted_index: "switchyard.", cited_text: "" }];

function saysWhole(): void {
  const said = completion(TEXT, "alpha-1") as { choices: [{ message: object }] };
  const message = { ...said.choices[0].message, annotations: [ANNOTATION] };
  mixed.openai.on("*", sends(200, { ...said, choices: [{ ...said.choices[0], message }] }));
}

function saysInPieces(): void {
  const pieces = textChunks(TEXT, "alpha-1");
  const cited = chunk("alpha-1", { annotations: [ANNOTATION] });
  mixed.openai.on("*", streams([...pieces.slice(0, -1), cited, ...pieces.slice(-1)], { usage: USAGE }));
}

it("are annotations of a response", async () => {
  saysWhole();
  expect((await openai.responses.create(ASK)).output).toMatchObject([
    { type: "message", content: [{ text: TEXT, annotations: IN_RESPONSES }] },
  ]);
  saysInPieces();
  const stream = openai.responses.stream({ ...ASK, stream: true });
  const added: unknown[] = [];
  stream.on("response.output_text.annotation.added", ({ annotation }) => added.push(annotation));
  expect((await stream.finalResponse()).output).toMatchObject([
    { type: "message", content: [{ text: TEXT, annotations: IN_RESPONSES }] },
  ]);
  expect(added).toEqual(IN_RESPONSES);
});

it("are citations of a message, which Anthropic does not get back", async () => {
  saysWhole();
  const { content } = await anthropic.messages.create(ASKED);
  expect(content).toEqual([{ type: "text", text: TEXT, citations: IN_MESSAGES }]);
  saysInPieces();
  expect((await anthropic.messages.stream(ASKED).finalMessage()).content).toEqual(content);
  const messages = [
    ...ASKED.messages,
    { role: "assistant" as const, content },
    { role: "user" as const, content: "And?" },
  ];
  await anthropic.messages.create({ ...ASKED, model: "claude", messages });
  expect(JSON.stringify(mixed.anthropic.requests.at(-1)?.body)).not.toContain("citations");
});
