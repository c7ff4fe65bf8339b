// Batches of OpenAI, and of hosts that have the same.

import { isObject, type JsonObject } from "../json/fields.ts";
import type { UploadedFile } from "../media/upload.ts";
import type { NativeBatches, NativeRequest } from "../native-batches.ts";

const RESULTS = ["output_file_id"] as const;
/** States in which nothing more comes. */
const OVER: ReadonlySet<unknown> = new Set(["completed", "failed", "expired", "cancelled"]);
const OK = 200;

/** The path as a line names it: below the version of the API. */
const urlOf = (path: string): string => `/v1${path}`;

export const openaiBatches: NativeBatches = {
  requestsMax: 20_000,
  bytesMax: 64 * 1024 * 1024,
  upload: (path, requests) => ({
    path: "/files",
    form: { fields: [["purpose", "batch"]], files: [fileOf(path, requests)] },
  }),
  create: (path, { fileId }) => ({
    path: "/batches",
    body: { input_file_id: fileId, endpoint: urlOf(path), completion_window: "24h" },
  }),
  show: (id) => `/batches/${encodeURIComponent(id)}`,
  cancel: (id) => `/batches/${encodeURIComponent(id)}/cancel`,
  readState(body) {
    const ids = RESULTS.flatMap((name) => (typeof body[name] === "string" ? [body[name]] : []));
    return { isOver: OVER.has(body.status), resultPaths: ids.map((id) => `/files/${encodeURIComponent(id)}/content`) };
  },
  readResult({ custom_id: key, response }: JsonObject) {
    if (typeof key !== "string" || !isObject(response) || response.status_code !== OK) return null;
    return isObject(response.body) ? { key, body: JSON.stringify(response.body) } : null;
  },
};

function fileOf(path: string, requests: readonly NativeRequest[]): UploadedFile {
  const lines = requests.map(
    ({ key, body }) => `{"custom_id":${JSON.stringify(key)},"method":"POST","url":"${urlOf(path)}","body":${body}}\n`,
  );
  const bytes = Buffer.from(lines.join(""));
  return {
    ...{ name: "file", fileName: "lines.jsonl", type: "application/jsonl" },
    ...{ length: bytes.length, start: bytes.subarray(0, 1) },
    read: async function* () {
      yield bytes;
    },
  };
}
