// Embeddings as Google Cloud's models answer them: a request to /v1/embeddings becomes one for a prediction, and the
// answer is written back in OpenAI's form.

import { unconvertible } from "../convert/conversion.ts";
import type { OwnEndpoint } from "../endpoints/own-endpoint.ts";
import type { ClientRequest, ProviderRequest } from "../format.ts";
import { isObject, isTexts, objectsIn } from "../json/fields.ts";
import { parseObject } from "../json/parse.ts";
import { pathTo } from "./write-request.ts";

export const vertexEmbeddings: OwnEndpoint<ClientRequest, ProviderRequest> = {
  write({ body: { input, dimensions, ...others } }, model) {
    const texts = typeof input === "string" ? [input] : input;
    if (!Array.isArray(texts) || !isTexts(texts)) throw unconvertible(["it embeds texts, not token ids"]);
    // A text that is too long is an error everywhere else, too.
    const parameters = { autoTruncate: false, ...(dimensions == null ? {} : { outputDimensionality: dimensions }) };
    const sent = { instances: texts.map((content) => ({ content })), parameters };
    return {
      path: pathTo(model, "predict"),
      body: Buffer.from(JSON.stringify(sent)),
      droppedFields: others.user === undefined ? [] : ["user"],
    };
  },
  read(bytes) {
    const predictions = parseObject(bytes)?.predictions;
    if (!Array.isArray(predictions)) return null;
    const embeddings = objectsIn(predictions).map(({ embeddings: each }) => (isObject(each) ? each : {}));
    const data = embeddings.map(({ values }, index) => ({ object: "embedding", index, embedding: values }));
    const counts = embeddings.map(({ statistics }) => (isObject(statistics) ? Number(statistics.token_count) || 0 : 0));
    const tokens = counts.reduce((sum, count) => sum + count, 0);
    const usage = tokens === 0 ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } };
    return Buffer.from(JSON.stringify({ object: "list", data, ...usage }));
  },
};
