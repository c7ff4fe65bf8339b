// A provider's Responses answer passed on to a client of the same format, as it came. Only the model's name, what the
// response says of its state, missing usage and the added `service` object change; item ids and sequence numbers stay.

import type { Usage } from "../../core/chat.ts";
import type { GatewayError } from "../../core/errors.ts";
import type {
  NativeEvent,
  ResponseAdditions,
  ResponseContext,
  ServiceObject,
  StreamOptions,
  StreamWriter,
  WholeResponse,
} from "../format.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { parseObject, scanText } from "../json/parse.ts";
import { spliceFields } from "../json/splice.ts";
import { rawValue } from "../scan/scan.ts";
import { errorText, streamErrorCode } from "./errors.ts";
import { ownFields } from "./response-object.ts";
import { readResponsesUsage, writeResponsesUsage } from "./usage.ts";

/** From a provider of this format: its own bytes. */
export function passResponsesResponse(
  { native }: WholeResponse,
  context: ResponseContext,
  { service, usage }: ResponseAdditions,
): Buffer {
  return spliceFields(native.source, changesOf({ own: ownTexts(context), service, usage }));
}

interface Additions {
  /** Replacements as JSON, by name: the same for every event. */
  readonly own: readonly (readonly [name: string, value: string])[];
  readonly service: ServiceObject | null;
  readonly usage: Usage | null;
}

function ownTexts(context: ResponseContext): Additions["own"] {
  const fields = { model: context.modelId, ...ownFields(context) };
  return Object.entries(fields).map(([name, value]) => [name, JSON.stringify(value)]);
}

function changesOf({ own, service, usage }: Additions): Map<string, string> {
  const changes = new Map(own);
  if (service !== null) changes.set("service", JSON.stringify(service));
  if (usage !== null) changes.set("usage", JSON.stringify(writeResponsesUsage(usage)));
  return changes;
}

/** Events that carry the whole response. */
const WITH_RESPONSE: ReadonlySet<string> = new Set([
  ...["response.created", "response.queued", "response.in_progress"],
  ...["response.completed", "response.incomplete"],
]);

/** From events of a provider of this format. The end waits for settlement. */
export function passResponsesStream(context: ResponseContext, { service }: StreamOptions): StreamWriter {
  const own = ownTexts(context);
  let first: string | null = null;
  let last = "";
  let ending: NativeEvent | null = null;

  return {
    ping: PING,
    fail: (error) => failed(error, { context, service, first, last }),
    write(chunks) {
      let events = "";
      for (const { native, isFinish } of chunks) {
        if (native === undefined) continue;
        last = native.data;
        if (isFinish) ending = native;
        else if (WITH_RESPONSE.has(native.event)) {
          const isFirst = first === null;
          first ??= native.data;
          events += text(
            native.event,
            withChanges(native.data, { own, service: isFirst ? service : null, usage: null }),
          );
        } else events += text(native.event, native.data);
      }
      return events;
    },
    end(settled, usage) {
      if (ending === null) return "";
      return text(
        ending.event,
        withChanges(ending.data, { own, service: settled, usage: missing(ending.data, usage) }),
      );
    },
  };
}

/** Readers skip comments. */
const PING = ": keep-alive\n\n";

function text(event: string, data: string): string {
  const lines = data.includes("\n") ? data.replaceAll("\n", "\ndata: ") : data;
  return `event: ${event}\ndata: ${lines}\n\n`;
}

function withChanges(data: string, additions: Additions): string {
  const outer = scanText(Buffer.from(data));
  const response = outer === null ? null : rawValue(outer, "response");
  const inner = response === null ? null : scanText(response);
  if (outer === null || inner === null) return data;
  return spliceFields(outer, new Map([["response", spliceFields(inner, changesOf(additions))]])).toString("utf8");
}

/** The counts of the settlement where the provider gave none. */
function missing(data: string, usage: Usage): Usage | null {
  const { response } = parseObject(Buffer.from(data)) ?? {};
  return isObject(response) && readResponsesUsage(response) !== null ? null : usage;
}

interface BrokenStream {
  readonly context: ResponseContext;
  readonly service: ServiceObject;
  /** The data of the first event with the response, and of the last event of all. */
  readonly first: string | null;
  readonly last: string;
}

/** Goes on with the provider's numbers, so that the client can tell that nothing is missing in between. */
function failed(error: GatewayError, { context, service, first, last }: BrokenStream): string {
  const { response } = (first === null ? null : parseObject(Buffer.from(first))) ?? {};
  const { sequence_number: number } = parseObject(Buffer.from(last)) ?? {};
  const next = typeof number === "number" ? number + 1 : 0;
  const head: JsonObject = isObject(response) ? response : { id: `resp_${context.requestId}`, object: "response" };
  const code = streamErrorCode(error);
  const failure = {
    ...head,
    ...ownFields(context),
    status: "failed",
    error: { code, message: error.message },
    model: context.modelId,
    service,
  };
  return (
    text("error", `{"type":"error",${errorText(error)},"sequence_number":${next}}`) +
    text("response.failed", JSON.stringify({ type: "response.failed", response: failure, sequence_number: next + 1 }))
  );
}
