// Writes a Gemini stream for a client, from chat chunks or from the chunks of a provider of the same format. It is a series
// of responses, as server-sent events or as one JSON array. The last one waits for the settlement. Behaviour 6.

import type { GatewayError } from "../../core/errors.ts";
import type { SearchStep } from "../../core/search/web-search.ts";
import type { ChatChunk, ResponseContext, ServiceObject, StreamOptions, StreamWriter } from "../format.ts";
import { isObject, type JsonObject, objectsIn, textOrEmpty } from "../json/fields.ts";
import { scanText } from "../json/parse.ts";
import { spliceFields } from "../json/splice.ts";
import { stepOf } from "../tools/searches.ts";
import { CandidateWriter, logprobsOf, rulesFor } from "./candidates.ts";
import { groundingOf } from "./grounding.ts";
import type { Part } from "./shape.ts";
import { writeGeminiError } from "./write-error.ts";
import { responseNames, writeContent, writeGeminiUsage } from "./write-response.ts";

/** Nothing in either framing. Google's Python client takes a comment for a response, and fails. */
const PING = "\n";

/** Puts responses one behind the other, as the client asked for it. */
interface Frames {
  write(json: string): string;
  end(): string;
}

function createFrames({ request }: ResponseContext): Frames {
  if (request?.target?.framing !== "json-array") {
    return { write: (json) => `data: ${json.replaceAll("\n", "\ndata: ")}\n\n`, end: () => "" };
  }
  let hasBegun = false;
  return {
    write(json) {
      const text = `${hasBegun ? ",\r\n" : "["}${json}`;
      hasBegun = true;
      return text;
    },
    end: () => (hasBegun ? "]" : "[]"),
  };
}

function failure(error: GatewayError, { requestId }: ResponseContext, frames: Frames): string {
  return frames.write(JSON.stringify(writeGeminiError(error, requestId))) + frames.end();
}

/** A candidate of a stream, and how it ended. */
interface OpenCandidate {
  readonly writer: CandidateWriter;
  /** Searches of the gateway that are done, and the text that may cite what they found. */
  readonly steps: SearchStep[];
  text: string;
  finish: unknown;
}

/** From chat chunks. */
export function createGeminiStreamWriter(context: ResponseContext, { service }: StreamOptions): StreamWriter {
  const rules = rulesFor(context);
  const frames = createFrames(context);
  const names = responseNames(context);
  const isSearching = context.request?.searching !== undefined;
  const candidates = new Map<number, OpenCandidate>();
  let isFirst = true;

  function candidateAt(index: number): OpenCandidate {
    const candidate = candidates.get(index) ?? {
      writer: new CandidateWriter(rules),
      steps: [],
      text: "",
      finish: null,
    };
    candidates.set(index, candidate);
    return candidate;
  }

  function writeDelta(choice: JsonObject): readonly JsonObject[] {
    const index = typeof choice.index === "number" ? choice.index : 0;
    const candidate = candidateAt(index);
    candidate.finish = choice.finish_reason ?? candidate.finish;
    const delta = isObject(choice.delta) ? choice.delta : {};
    const step = stepOf(delta);
    if (step !== null && step.outcome !== null) candidate.steps.push(step);
    if (isSearching) candidate.text += textOrEmpty(delta.content);
    const parts = candidate.writer.add(delta);
    return parts.length === 0 ? [] : [{ content: writeContent(parts), index, ...logprobsOf(choice) }];
  }

  return {
    ping: PING,
    fail: (error) => failure(error, context, frames),
    write(chunks: readonly ChatChunk[]) {
      let text = "";
      for (const { json } of chunks) {
        const written = objectsIn(json.choices).flatMap(writeDelta);
        if (written.length === 0) continue;
        text += frames.write(JSON.stringify({ candidates: written, ...names, ...(isFirst ? { service } : {}) }));
        isFirst = false;
      }
      return text;
    },
    end(finalService, usage) {
      if (candidates.size === 0) candidateAt(0);
      const ended = [...candidates].map(([index, { writer, finish, text, steps }]) => {
        const parts: readonly Part[] = writer.rest();
        const finishReason = writer.finishReason(finish);
        return { content: writeContent(parts), finishReason, index, ...groundingOf(text, steps) };
      });
      const usageMetadata = writeGeminiUsage(usage);
      return (
        frames.write(JSON.stringify({ candidates: ended, usageMetadata, ...names, service: finalService })) +
        frames.end()
      );
    },
  };
}

/** From chunks of a provider of this format: as they came, but for the model name and the `service` object. */
export function passGeminiStream(context: ResponseContext, { service }: StreamOptions): StreamWriter {
  const frames = createFrames(context);
  const modelVersion = JSON.stringify(context.modelId);
  const held: string[] = [];
  let isEnding = false;
  let isFirst = true;

  function pass(data: string, added: ServiceObject | null): string {
    const source = scanText(Buffer.from(data));
    if (source === null) return frames.write(data);
    const changes = new Map([["modelVersion", modelVersion]]);
    if (added !== null) changes.set("service", JSON.stringify(added));
    return frames.write(spliceFields(source, changes).toString("utf8"));
  }

  return {
    ping: PING,
    fail: (error) => failure(error, context, frames),
    write(chunks) {
      let text = "";
      for (const { native, isFinish } of chunks) {
        if (native === undefined) continue;
        isEnding ||= isFinish;
        if (isEnding) {
          held.push(native.data);
          continue;
        }
        text += pass(native.data, isFirst ? service : null);
        isFirst = false;
      }
      return text;
    },
    end(finalService) {
      const last = held.length - 1;
      return held.map((data, index) => pass(data, index === last ? finalService : null)).join("") + frames.end();
    },
  };
}
