// Embeddings at Bedrock: each maker has a form of its own, which InvokeModel passes on. Requests and answers are converted
// from and to those of /v1/embeddings.

import { Conversion, unconvertible } from "../convert/conversion.ts";
import type { OwnEndpoint } from "../endpoints/own-endpoint.ts";
import type { ClientRequest, ProviderRequest } from "../format.ts";
import { isTexts, type JsonObject, objectsIn } from "../json/fields.ts";
import { parseObject } from "../json/parse.ts";
import { isControlField } from "../service/controls.ts";
import { pathOf } from "./write-request.ts";

/** Counts of an answer, where its body has none. */
const TOKENS_HEADER = "x-amzn-bedrock-input-token-count";
/** Fields that every family takes care of. The encoding is the gateway's own work. */
const CONVERTED: ReadonlySet<string> = new Set(["model", "input", "dimensions", "encoding_format"]);

interface AskedVectors {
  readonly texts: readonly string[];
  readonly dimensions: unknown;
  readonly body: JsonObject;
}

interface Family {
  /** In the name of the model, whatever its profile or version is. */
  readonly name: RegExp;
  readonly textsMax: number;
  /** A field of the client beside the usual ones. */
  readonly field?: string;
  write(asked: AskedVectors): JsonObject;
}

const FAMILIES: readonly Family[] = [
  {
    name: /amazon\.titan-embed-text-v2/,
    textsMax: 1,
    write: ({ texts: [inputText], dimensions }) => ({ inputText, ...sized("dimensions", dimensions) }),
  },
  {
    name: /amazon\.titan-embed-image/,
    textsMax: 1,
    write: ({ texts: [inputText], dimensions }) => ({
      inputText,
      ...sized("embeddingConfig", dimensions && { outputEmbeddingLength: dimensions }),
    }),
  },
  { name: /amazon\.titan-embed-/, textsMax: 1, write: ({ texts: [inputText] }) => ({ inputText }) },
  {
    name: /amazon\.nova-.*-embeddings/,
    textsMax: 1,
    field: "input_type",
    write: ({ texts: [value], dimensions, body }) => ({
      taskType: "SINGLE_EMBEDDING",
      singleEmbeddingParams: {
        embeddingPurpose: body.input_type ?? "GENERIC_INDEX",
        ...sized("embeddingDimension", dimensions),
        text: { truncationMode: "NONE", value },
      },
    }),
  },
  {
    name: /cohere\.embed-/,
    textsMax: 96,
    field: "input_type",
    write: ({ texts, dimensions, body }) => ({
      texts,
      input_type: body.input_type ?? "search_document",
      embedding_types: ["float"],
      ...sized("output_dimension", dimensions),
    }),
  },
];

function sized(name: string, value: unknown): JsonObject {
  return value === undefined || value === null ? {} : { [name]: value };
}

export const embeddings: OwnEndpoint<ClientRequest, ProviderRequest> = {
  write({ body }, { upstream, dialect }) {
    const family = FAMILIES.find(({ name }) => name.test(upstream));
    if (family === undefined) throw unconvertible([`the form of embeddings by ${upstream} is not known`]);
    const { input, dimensions } = body;
    const texts = typeof input === "string" ? [input] : input;
    if (!isTexts(texts)) throw unconvertible(["it takes texts, not token ids"]);
    const { length } = texts as readonly string[];
    if (length > family.textsMax) {
      const most = family.textsMax === 1 ? "one text" : `${family.textsMax} texts`;
      throw unconvertible([`it takes ${most} in a request, not ${length}`]);
    }
    const refused = dialect.refuses.filter((name) => (body[name] ?? null) !== null);
    const unknown = Object.keys(body).filter(
      (name) =>
        !CONVERTED.has(name) && name !== family.field && !isControlField(name, body[name]) && !refused.includes(name),
    );
    const conversion = new Conversion();
    conversion.leaveOut([...refused, ...unknown]);
    const asked = { texts: texts as readonly string[], dimensions: refused.includes("dimensions") ? null : dimensions };
    return {
      path: pathOf(upstream, "invoke"),
      body: Buffer.from(JSON.stringify(family.write({ ...asked, body }))),
      droppedFields: [...refused, ...unknown],
      ...(conversion.notes.length === 0 ? {} : { conversions: conversion.notes }),
    };
  },
  read(bytes, headers) {
    const answer = parseObject(bytes);
    if (answer === null) return null;
    const data = vectorsIn(answer).map((embedding, index) => ({ object: "embedding", index, embedding }));
    const counted = Number(headers[TOKENS_HEADER] ?? answer.inputTextTokenCount);
    const isCount = Number.isSafeInteger(counted) && counted > 0;
    const usage = isCount ? { usage: { prompt_tokens: counted, total_tokens: counted } } : {};
    return Buffer.from(JSON.stringify({ object: "list", data, model: "", ...usage }));
  },
};

/** One list of numbers, lists of them, or lists of them by type. */
function vectorsIn({ embedding, embeddings: several, embeddingsByType }: JsonObject): readonly unknown[] {
  if (Array.isArray(embedding)) return [embedding];
  if (Array.isArray(several)) {
    const named = objectsIn(several).map((each) => each.embedding);
    return (named.length > 0 ? named : several).filter(Array.isArray);
  }
  const [byType] = objectsIn([several, embeddingsByType]);
  return Array.isArray(byType?.float) ? byType.float.filter(Array.isArray) : [];
}
