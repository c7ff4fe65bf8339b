// Streams in the invented format: named events, one for each tap of the key.

import type { Usage } from "../../../../src/core/chat.ts";
import type { GatewayError } from "../../../../src/core/errors.ts";
import type {
  ChatChunk,
  ProviderFault,
  ResponseContext,
  StreamOptions,
  StreamReader,
  StreamWriter,
} from "../../../../src/formats/format.ts";
import { isObject, type JsonObject } from "../../../../src/formats/json/fields.ts";
import { scanText } from "../../../../src/formats/json/parse.ts";
import { spliceFields } from "../../../../src/formats/json/splice.ts";
import { onlyChoice, parseEvent, StreamState } from "../../../../src/formats/provider/stream-state.ts";
import type { SseEvent, SseReader } from "../../../../src/formats/sse/reader.ts";
import { TELEGRAM } from "./requests.ts";
import { finishOf, readBill, readTrouble, stopOf, writeBill, writeTrouble } from "./responses.ts";

export function createTelegramReader(events: SseReader): StreamReader {
  return new TelegramReader(events);
}

class TelegramReader extends StreamState {
  readonly #orders: string[] = [];

  toolCallIds(): readonly string[] {
    return this.#orders;
  }

  protected readEvent({ event, data }: SseEvent): ChatChunk | null {
    if (event === "trouble") return this.failed(readTrouble(Buffer.from(data)) as ProviderFault);
    const choice = this.#readChoice(event ?? "", parseEvent(data));
    return this.chunk(onlyChoice(choice), { format: TELEGRAM, event: event ?? "", data });
  }

  #readChoice(event: string, json: JsonObject): JsonObject | null {
    switch (event) {
      case "tap":
        this.head = { id: json.telegram, model: json.station };
        return { delta: { role: "assistant", content: "" } };
      case "words":
        return this.#say({ content: json.w }, String(json.w));
      case "order": {
        const index = this.#orders.push(String(json.number)) - 1;
        const call = { index, id: json.number, type: "function", function: { name: json.machine, arguments: "" } };
        return this.#say({ tool_calls: [call] }, String(json.machine));
      }
      case "notes": {
        const index = this.#orders.indexOf(String(json.number));
        return this.#say({ tool_calls: [{ index, function: { arguments: json.piece } }] }, String(json.piece));
      }
      case "stop":
        this.isFinished = true;
        this.isDone = true;
        this.usage = readBill(json.bill);
        this.isCounted = true;
        return { delta: {}, finish_reason: finishOf(json.stop) };
      default:
        return null;
    }
  }

  #say(delta: JsonObject, said: string): JsonObject {
    this.output.add(said);
    return { delta };
  }
}

const PING = writeEvent("silence", {});

export function writeEvent(event: string, json: JsonObject): string {
  return `event: ${event}\ndata: ${JSON.stringify(json)}\n\n`;
}

function trouble(error: GatewayError, { requestId }: ResponseContext): string {
  return writeEvent("trouble", writeTrouble(error, requestId));
}

export function createTelegramWriter(context: ResponseContext, { service }: StreamOptions): StreamWriter {
  const numbers = new Map<unknown, unknown>();
  let hasStarted = false;
  let finish: unknown = null;
  const start = (): string => {
    if (hasStarted) return "";
    hasStarted = true;
    return writeEvent("tap", { telegram: context.requestId, station: context.modelId, service });
  };
  const writeDelta = ({ content, tool_calls: calls }: JsonObject): string => {
    let text = typeof content === "string" && content !== "" ? writeEvent("words", { w: content }) : "";
    for (const { index, id, function: called } of (calls ?? []) as readonly JsonObject[]) {
      const { name, arguments: piece } = isObject(called) ? called : {};
      if (!numbers.has(index)) text += writeEvent("order", { number: id, machine: name });
      if (!numbers.has(index)) numbers.set(index, id);
      if (typeof piece === "string" && piece !== "") {
        text += writeEvent("notes", { number: numbers.get(index), piece });
      }
    }
    return text;
  };
  return {
    ping: PING,
    fail: (error) => trouble(error, context),
    write(chunks) {
      let text = chunks.length === 0 ? "" : start();
      for (const { json } of chunks) {
        const [choice] = (json.choices ?? []) as readonly JsonObject[];
        if (choice === undefined) continue;
        if (isObject(choice.delta)) text += writeDelta(choice.delta);
        finish = choice.finish_reason ?? finish;
      }
      return text;
    },
    end: (_service, usage: Usage) => start() + writeEvent("stop", { stop: stopOf(finish), bill: writeBill(usage) }),
  };
}

/** The provider's own events; only the first names our station and the service. The last waits for settlement. */
export function passTelegramStream(context: ResponseContext, { service }: StreamOptions): StreamWriter {
  let held = "";
  const withService = (data: string): string => {
    const source = scanText(Buffer.from(data));
    const changes = { station: context.modelId, service };
    const texts = Object.entries(changes).map(([name, value]) => [name, JSON.stringify(value)] as const);
    return source === null ? data : spliceFields(source, new Map(texts)).toString();
  };
  return {
    ping: PING,
    fail: (error) => trouble(error, context),
    write(chunks) {
      let text = "";
      for (const { native, isFinish } of chunks) {
        if (native === undefined) continue;
        const data = native.event === "tap" ? withService(native.data) : native.data;
        const event = `event: ${native.event}\ndata: ${data}\n\n`;
        if (isFinish) held += event;
        else text += event;
      }
      return text;
    },
    end: () => held,
  };
}
