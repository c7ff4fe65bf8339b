// A gateway with models for images and sound, in front of a provider that answers as it is told.

import { TIERS } from "../../../src/core/tiers.ts";
import { type GatewayOptions, startGateway, type TestGateway } from "../gateway/gateway.ts";
import { type Bank, bankOf } from "../stores/money.ts";
import { type Behaviour, type FakeProvider, type ReceivedRequest, sends, startFakeProvider } from "./fake-provider.ts";

export interface MediaLab {
  readonly provider: FakeProvider;
  readonly gateway: TestGateway;
  readonly bank: Bank;
  close(): Promise<void>;
}

export async function openMediaLab(options: GatewayOptions = {}): Promise<MediaLab> {
  const provider = await startFakeProvider(sends(200, IMAGES));
  const gateway = await startGateway({ yaml: mediaYaml(provider.url), ...options });
  const bank = bankOf(provider, gateway);
  return { provider, gateway, bank, close: bank.close };
}

/** `painter` is paid by tokens, `printer` by the image, `voice` by tokens and `reader` by the character. */
function mediaYaml(baseUrl: string): string {
  const model = (id: string, price: string, capability: string, more = ""): string =>
    `  - { id: ${id}, provider: lab, upstream: vendor-${id}, price: ${price}, context: 32768, maxOutput: 1000, capabilities: [${capability}]${more} }`;
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 1000000, eventLoopDelayMs: 60000 }",
    "health: { failuresInRow: 100000, callsMin: 100000 }",
    "providers:",
    `  lab: { kind: openai, baseUrl: "${baseUrl}", apiKey: lab-secret }`,
    "models:",
    "  - { id: alpha, provider: lab, price: { input: 1.1, output: 4.4 }, context: 128000, capabilities: [tools] }",
    model("painter", "{ input: 5, output: 30, imageInput: 8, cacheRead: 1.25 }", "images"),
    model("printer", '{ input: 0, output: 0, image: { "1024x1024/low": 0.01, high: 0.2, any: 0.04 } }', "images"),
    model("voice", "{ input: 0.6, output: 12 }", "speech"),
    model("hearer", "{ input: 2.5, audioInput: 6, output: 10 }", "transcription"),
    model("clock", "{ input: 0, output: 0, minute: 0.006 }", "transcription"),
    model("reader", "{ input: 0, output: 0, characters: 15 }", "speech"),
    "tiers:",
    ...TIERS.map((tier) => `  ${tier}: [alpha]`),
    "routing: { baseline: alpha }",
  ].join("\n");
}

export const PICTURE = Buffer.from("a picture".repeat(1000)).toString("base64");
export const IMAGE_USAGE = {
  total_tokens: 3_150,
  input_tokens: 150,
  output_tokens: 3_000,
  input_tokens_details: { text_tokens: 50, image_tokens: 100 },
};
export const IMAGES = { created: 1, data: [{ b64_json: PICTURE }], usage: IMAGE_USAGE };

/** Events with their names, as image hosts write them, and a cut in place of the end where it is wanted. */
export function sendsEvents(events: readonly { readonly type: string }[], isCut = false): Behaviour {
  return ({ response, socket }) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    const texts = events.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`);
    response.write(texts.join(""), () => void (isCut ? socket.destroy() : response.end()));
  };
}

/** Sound in two pieces. */
export const SOUND = Buffer.from(Array.from({ length: 70_000 }, (_, place) => (place * 37) % 256));
export function sendsSound({ isCut = false, type = "audio/mpeg" } = {}): Behaviour {
  return ({ response, socket }) => {
    response.writeHead(200, { "content-type": type });
    response.write(SOUND.subarray(0, 40_000), () => {
      if (isCut) socket.destroy();
      else response.end(SOUND.subarray(40_000));
    });
  };
}

/** A form as it arrived at the provider. */
export async function formOf({ bytes, headers }: Pick<ReceivedRequest, "bytes" | "headers">): Promise<FormData> {
  const type = String(headers["content-type"]);
  return new Response(new Uint8Array(bytes), { headers: { "content-type": type } }).formData();
}

/** So many seconds of silence, as 8-bit mono sound at 8 kHz. */
export function wavOf(seconds: number): Buffer {
  const rate = 8_000;
  const head = Buffer.alloc(44);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(36 + rate * seconds, 4);
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(rate * seconds, 40);
  return Buffer.concat([head, Buffer.alloc(rate * seconds, 128)]);
}
