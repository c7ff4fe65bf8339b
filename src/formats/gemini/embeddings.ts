// Google's endpoints for embeddings, at the client's end: one text, or a batch. A request becomes one to /v1/embeddings,
// and the answer is written back in Google's form.

import { promptTokens } from "../../core/chat.ts";
import { readEmbeddingsRequest } from "../endpoints/read-request.ts";
import { readAnswer } from "../endpoints/read-response.ts";
import type { ClientRequest, PassThrough, RequestHead, ResponseAdditions, WholeResponse } from "../format.ts";
import { invalid, isObject, type JsonObject, objectsIn, readArray, readInteger } from "../json/fields.ts";
import { parseObject } from "../json/parse.ts";
import { sourceOf } from "../json/splice.ts";
import type { ClientPaths } from "../paths.ts";
import { geminiClient } from "./client.ts";
import { BATCH_EMBED_PATHS, EMBED_PATHS } from "./paths.ts";
import { camelFields } from "./to-chat/parse.ts";

export const geminiEmbedding = embedder("gemini-embedding", EMBED_PATHS, {
  readRequests: (fields) => [{ fields, place: "" }],
  write: ([first]) => ({ embedding: first ?? {} }),
});

export const geminiBatchEmbedding = embedder("gemini-batch-embedding", BATCH_EMBED_PATHS, {
  readRequests(fields) {
    const requests = readArray(fields, "requests");
    if (requests.length === 0) throw invalid("requests", "'requests' is missing or empty. Send at least one request.");
    return requests.map((request, index) => {
      const place = `requests[${index}]`;
      if (!isObject(request)) throw invalid(place, `${place} must be an object.`);
      return { fields: camelFields(request), place: `${place}.` };
    });
  },
  write: (embeddings) => ({ embeddings }),
});

interface EmbedRequest {
  readonly fields: JsonObject;
  /** Goes before the names of its fields in errors. */
  readonly place: string;
}

interface Embedding {
  readonly values?: unknown;
}

interface EmbeddingForm {
  readRequests(fields: JsonObject): readonly EmbedRequest[];
  write(embeddings: readonly Embedding[]): JsonObject;
}

function embedder(name: string, paths: ClientPaths, { readRequests, write }: EmbeddingForm): PassThrough {
  const { habits, models, writeError } = geminiClient;
  return {
    name,
    endpoint: "embeddings",
    idempotencyScope: name,
    outputCapField: "content",
    paths,
    habits,
    readRequest: (_source, body, head) => readRequest(readRequests(camelFields(body)), head),
    mayCacheLong: () => false,
    readResponse: (bytes) => readAnswer(bytes, "embeddings", ["data"]),
    passResponse: (response, _context, additions) =>
      Buffer.from(JSON.stringify(writeAnswer(response, additions, write))),
    writeError,
    models,
  };
}

function readRequest(requests: readonly EmbedRequest[], { target }: RequestHead = {}): ClientRequest {
  const texts = requests.map(readText);
  const dimensions = requests.map(({ fields }) => readInteger(fields, "outputDimensionality", { min: 1, max: MAX }));
  if (dimensions.some((each) => each !== dimensions[0])) {
    throw invalid("requests", "All of 'requests' must have the same 'outputDimensionality'.");
  }
  for (const { fields, place } of requests) {
    const { model = `models/${target?.model}` } = fields;
    if (model === target?.model || model === `models/${target?.model}`) continue;
    throw invalid(`${place}model`, `'${place}model' must be the model that the path names.`);
  }
  const body = {
    model: target?.model,
    input: texts.length === 1 ? texts[0] : texts,
    ...(dimensions[0] === null ? {} : { dimensions: dimensions[0] }),
  };
  return readEmbeddingsRequest(sourceOf(body), body);
}

const MAX = Number.MAX_SAFE_INTEGER;

function readText({ fields, place }: EmbedRequest): string {
  const { content } = fields;
  const parts = isObject(content) ? objectsIn(Array.isArray(content.parts) ? content.parts : [content.parts]) : [];
  if (parts.length === 0) throw invalid(`${place}content`, `'${place}content' must have at least one part.`);
  return parts
    .map(({ text }) => {
      if (typeof text === "string") return text;
      throw invalid(`${place}content.parts`, `'${place}content.parts' must have texts only.`);
    })
    .join("\n");
}

function writeAnswer(
  { native: { source }, usage: counted }: WholeResponse,
  { usage }: Pick<ResponseAdditions, "usage">,
  write: EmbeddingForm["write"],
): JsonObject {
  const rows = objectsIn(parseObject(source.bytes)?.data);
  const inOrder = rows.toSorted((a, b) => Number(a.index ?? 0) - Number(b.index ?? 0));
  const known = usage ?? counted;
  return {
    ...write(inOrder.map(({ embedding }) => ({ values: embedding }))),
    ...(known === null ? {} : { usageMetadata: { promptTokenCount: promptTokens(known.buckets) } }),
  };
}
