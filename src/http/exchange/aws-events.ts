// Sends a stream in the framing of AWS. Up to here it is text, which is also what is kept for a repeated request.

import { AWS_EVENT_STREAM, writeAwsEvents } from "../../formats/converse/write-events.ts";
import type { Answer } from "../../gateway/answer.ts";
import type { TextSink } from "../../gateway/relay.ts";

export function inAwsEvents(answer: Answer): Promise<Answer> {
  return Promise.resolve(framed(answer));
}

function framed(answer: Answer): Answer {
  if (answer.kind === "stream") {
    const relay = (sink: TextSink): Promise<void> => answer.relay(framing(sink));
    return { ...answer, contentType: AWS_EVENT_STREAM, relay, ping: "" };
  }
  // The stored answer of an earlier request.
  if (!answer.contentType.startsWith("text/event-stream")) return answer;
  return { ...answer, contentType: AWS_EVENT_STREAM, bytes: writeAwsEvents(answer.bytes.toString("utf8")) };
}

function framing(sink: TextSink): TextSink {
  const write = (text: string): Promise<void> | null =>
    text === "" ? null : sink.write(writeAwsEvents(text).toString("latin1"), true);
  return {
    get isOpen() {
      return sink.isOpen;
    },
    write,
    end(text) {
      // The socket closes behind it, so nobody waits for room.
      void write(text);
      sink.end("");
    },
    cut: () => sink.cut?.(),
  };
}
