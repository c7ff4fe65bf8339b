// A provider's Messages stream passed on to a client of the same format, event by event as it came; only the first gets
// the gateway's model name and the `service` object. The end waits for settlement.

import type { AnswerContext, ChatChunk, NativeEvent, ServiceObject } from "../format.ts";
import { rawValue, scanObject, spliceFields } from "../wire/json-source.ts";
import { writeAnthropicEvent } from "./from-chat/events.ts";

const DEPTH_MAX = 200;

export interface Relay {
  write(chunks: readonly ChatChunk[]): string;
  end(): string;
}

export function createAnthropicRelay(context: AnswerContext, service: ServiceObject): Relay {
  let held = "";
  let isEnding = false;
  let hasStop = false;

  function text({ event, data }: NativeEvent): string {
    const sent = event === "message_start" ? withService(data) : data;
    return `event: ${event}\n${sent
      .split("\n")
      .map((line) => `data: ${line}\n`)
      .join("")}\n`;
  }

  function withService(data: string): string {
    const outer = scanObject(Buffer.from(data), DEPTH_MAX);
    if (outer.state !== "object") return data;
    const message = rawValue(outer.source, "message");
    const inner = message === null ? null : scanObject(message, DEPTH_MAX);
    if (inner?.state !== "object") return data;
    const changes = new Map([
      ["model", JSON.stringify(context.modelId)],
      ["service", JSON.stringify(service)],
    ]);
    return spliceFields(outer.source, new Map([["message", spliceFields(inner.source, changes)]])).toString("utf8");
  }

  return {
    write(chunks) {
      let events = "";
      for (const { native, isFinish } of chunks) {
        if (native === undefined) continue;
        isEnding ||= isFinish;
        hasStop ||= native.event === "message_stop";
        if (isEnding) held += text(native);
        else events += text(native);
      }
      return events;
    },
    end() {
      return hasStop ? held : held + writeAnthropicEvent({ type: "message_stop" });
    },
  };
}
