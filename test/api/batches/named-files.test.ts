// Files that requests name by `file_id`: their content reaches every model, live and in the lines of a batch.

import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type GeminiGateway, startGeminiGateway } from "../../support/providers/gemini-gateway.ts";

let world: GeminiGateway;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  world = await startGeminiGateway();
  openai = new OpenAI({ apiKey: world.gateway.key, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: world.gateway.key, baseURL: world.gateway.url, maxRetries: 0 });
});
beforeEach(() => world.reset());
afterAll(() => world.close());

const PDF = Buffer.from("%PDF-1.4 secret words");
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const uploaded = async (bytes: Buffer, name: string): Promise<string> =>
  (await openai.files.create({ file: await toFile(bytes, name), purpose: "user_data" })).id;
const sent = (): string =>
  JSON.stringify([...world.openai.requests, ...world.anthropic.requests].map(({ body }) => body));
const chatOf = (id: string) => [{ role: "user", content: [{ type: "file", file: { file_id: id } }] }];
const direct = { service_profile: "direct" };
const ROUTES = ["chat", "responses", "messages"] as const;

function ask(route: (typeof ROUTES)[number], model: string, id: string): Promise<unknown> {
  if (route === "chat")
    return openai.chat.completions.create({ model, messages: chatOf(id), ...direct } as unknown as Chat);
  if (route === "responses") {
    const content = [{ type: "input_file" as const, file_id: id }];
    return openai.responses.create({ model, input: [{ role: "user", content }], ...direct } as Asked);
  }
  const content = [{ type: "document", source: { type: "file", file_id: id } }];
  const body = { model, max_tokens: 50, messages: [{ role: "user", content }], ...direct };
  return anthropic.beta.messages.create(body as unknown as Message);
}
type Chat = OpenAI.ChatCompletionCreateParamsNonStreaming;
type Asked = OpenAI.Responses.ResponseCreateParamsNonStreaming;
type Message = Anthropic.Beta.Messages.MessageCreateParamsNonStreaming;

test.each(ROUTES.flatMap((route) => [[route, "alpha"] as const, [route, "claude"] as const]))(
  "a file named in %s reaches %s as its content, and nobody else can name it",
  async (route, model) => {
    const id = await uploaded(PDF, "words.pdf");
    await ask(route, model, id);
    expect(sent()).toContain(PDF.toString("base64"));
    await openai.files.delete(id);
    await expect(ask(route, model, id)).rejects.toMatchObject({ status: 400, message: expect.stringContaining(id) });
  },
);

test("a picture is one for the model, by its name where its type is unknown", async () => {
  const id = await uploaded(PNG, "dot.png");
  const content = [{ type: "input_image" as const, file_id: id, detail: "low" as const }];
  await openai.responses.create({ model: "alpha", input: [{ role: "user", content }], ...direct } as Asked);
  await openai.chat.completions.create({ model: "alpha", messages: chatOf(id), ...direct } as unknown as Chat);
  const url = `data:image/png;base64,${PNG.toString("base64")}`;
  for (const { body } of world.openai.requests)
    expect(body).toMatchObject({ messages: [{ content: [{ type: "image_url", image_url: { url } }] }] });
});

test("a text is a document of text for the Messages format", async () => {
  await ask("messages", "claude", await uploaded(Buffer.from("plain words"), "notes.txt"));
  expect(sent()).toContain('{"type":"text","media_type":"text/plain","data":"plain words"}');
});

test("a line of a batch names a file, and one that is gone is the error of its line", async () => {
  const [id, gone] = [await uploaded(PDF, "words.pdf"), await uploaded(PDF, "gone.pdf")];
  await openai.files.delete(gone);
  const url = "/v1/chat/completions";
  const lines = [id, gone].map((file) =>
    JSON.stringify({
      custom_id: file,
      method: "POST",
      url,
      body: { model: "alpha", messages: chatOf(file), ...direct },
    }),
  );
  const file = await toFile(Buffer.from(lines.join("\n")), "lines.jsonl");
  const input = await openai.files.create({ file, purpose: "batch" });
  const made = await openai.batches.create({ input_file_id: input.id, endpoint: url, completion_window: "24h" });
  await expect
    .poll(() => openai.batches.retrieve(made.id), { timeout: 20_000, interval: 100 })
    .toMatchObject({ status: "completed", request_counts: { completed: 1, failed: 1 } });
  const { error_file_id: errors } = await openai.batches.retrieve(made.id);
  const [line] = (await (await openai.files.content(String(errors))).text()).split("\n");
  expect(JSON.parse(String(line))).toMatchObject({
    custom_id: gone,
    response: { status_code: 400, body: { error: { code: "file_not_found" } } },
  });
  expect(sent()).toContain(PDF.toString("base64"));
});
