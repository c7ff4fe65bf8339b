// Message batches of Anthropic.

import { isObject, type JsonObject } from "../json/fields.ts";
import type { NativeBatches } from "../native-batches.ts";

const PATH = "/v1/messages/batches";

export const messageBatches: NativeBatches = {
  headers: { "anthropic-version": "2023-06-01" },
  requestsMax: 20_000,
  bytesMax: 64 * 1024 * 1024,
  create: (_path, { requests }) => ({
    path: PATH,
    body: `{"requests":[${requests
      .map(({ key, body }) => `{"custom_id":${JSON.stringify(key)},"params":${body}}`)
      .join()}]}`,
  }),
  show: (id) => `${PATH}/${encodeURIComponent(id)}`,
  cancel: (id) => `${PATH}/${encodeURIComponent(id)}/cancel`,
  readState({ id, processing_status: status }: JsonObject) {
    const isOver = status === "ended";
    return { isOver, resultPaths: isOver ? [`${PATH}/${encodeURIComponent(String(id))}/results`] : [] };
  },
  readResult({ custom_id: key, result }: JsonObject) {
    if (typeof key !== "string" || !isObject(result) || result.type !== "succeeded") return null;
    return isObject(result.message) ? { key, body: JSON.stringify(result.message) } : null;
  },
};
