// The contract of files and batches.

import { Type } from "typebox";
import { FILE_PURPOSES } from "../../../core/batches/files.ts";
import { BATCH_PATHS } from "../../../formats/endpoints/batches.ts";
import { inPath, json, type Operation, query } from "../../openapi/operation.ts";
import { AnyObject, AnyText, Flag, Integer, listed, named, nullable, optional } from "../../openapi/schema.ts";
import { MessagesErrorSchema, v1 } from "../contract.ts";
import { EXPIRY_SECONDS, FILES_AT_ONCE } from "./files.ts";

const ID = inPath("id");
const open = { additionalProperties: true };
const Binary = Type.Unsafe<string>({ type: "string", format: "binary" });

const FileSchema = named("File", {
  id: AnyText,
  object: Type.Literal("file"),
  bytes: Integer,
  created_at: Integer,
  expires_at: Integer,
  filename: AnyText,
  purpose: AnyText,
  status: Type.Literal("processed"),
});

const FileFormSchema = named("FileForm", {
  file: Binary,
  purpose: listed(FILE_PURPOSES),
  "expires_after[anchor]": Type.Optional(Type.Literal("created_at")),
  "expires_after[seconds]": Type.Optional(Type.Integer({ minimum: EXPIRY_SECONDS.min, maximum: EXPIRY_SECONDS.max })),
});

const FileListSchema = named("FileList", {
  object: Type.Literal("list"),
  data: Type.Array(FileSchema),
  first_id: nullable(AnyText),
  last_id: nullable(AnyText),
  has_more: Flag,
});

const UploadSchema = named("Upload", {
  id: AnyText,
  object: Type.Literal("upload"),
  bytes: Integer,
  created_at: Integer,
  expires_at: Integer,
  filename: AnyText,
  purpose: AnyText,
  status: listed(["pending", "completed", "cancelled"]),
  file: nullable(FileSchema),
});

const NewUploadSchema = named(
  "NewUpload",
  {
    filename: AnyText,
    purpose: listed(FILE_PURPOSES),
    bytes: Type.Integer({ minimum: 1 }),
    mime_type: AnyText,
    expires_after: optional(AnyObject),
  },
  { additionalProperties: true },
);
const NEW_UPLOAD = { filename: "lines.jsonl", purpose: "batch", bytes: 2_000_000, mime_type: "application/jsonl" };

const UPLOAD_OPERATIONS: readonly Operation[] = [
  v1("createUpload", "post", "/v1/uploads", {
    summary: "Begin the upload of a file in parts; its room is taken now",
    body: json(NewUploadSchema, NEW_UPLOAD),
    response: json(UploadSchema),
    errors: [402],
  }),
  v1("addUploadPart", "post", "/v1/uploads/{id}/parts", {
    summary: "Add a part of up to 64 MB",
    parameters: [ID],
    body: { "multipart/form-data": { schema: named("UploadPartForm", { data: Binary }) } },
    response: json(
      named("UploadPart", {
        id: AnyText,
        object: Type.Literal("upload.part"),
        created_at: Integer,
        upload_id: AnyText,
      }),
    ),
    errors: [404],
  }),
  v1("completeUpload", "post", "/v1/uploads/{id}/complete", {
    summary: "Join the parts to a file, in this order",
    parameters: [ID],
    body: json(
      named("UploadCompletion", {
        part_ids: Type.Array(AnyText, { minItems: 1 }),
        md5: optional(AnyText),
      }),
      { part_ids: ["part_0123"] },
    ),
    response: json(UploadSchema),
    errors: [404],
  }),
  v1("cancelUpload", "post", "/v1/uploads/{id}/cancel", {
    summary: "Give an upload up",
    parameters: [ID],
    response: json(UploadSchema),
    errors: [404],
  }),
];

const BatchServiceSchema = Type.Object({ cost_usd: Type.Number(), max_cost_usd: nullable(Type.Number()) });
const Time = nullable(Integer);

const BatchSchema = named("Batch", {
  id: AnyText,
  object: Type.Literal("batch"),
  endpoint: AnyText,
  errors: nullable(Type.Object({ object: Type.Literal("list"), data: Type.Array(AnyObject) })),
  input_file_id: AnyText,
  completion_window: Type.Literal("24h"),
  status: AnyText,
  output_file_id: nullable(AnyText),
  error_file_id: nullable(AnyText),
  created_at: Integer,
  in_progress_at: Time,
  expires_at: Integer,
  finalizing_at: Time,
  completed_at: Time,
  failed_at: Time,
  expired_at: Time,
  cancelling_at: Time,
  cancelled_at: Time,
  request_counts: Type.Object({ total: Integer, completed: Integer, failed: Integer }),
  metadata: nullable(AnyObject),
  service: BatchServiceSchema,
});

const MessageBatchSchema = named("MessageBatch", {
  id: AnyText,
  type: Type.Literal("message_batch"),
  processing_status: listed(["in_progress", "canceling", "ended"]),
  request_counts: Type.Object({
    processing: Integer,
    succeeded: Integer,
    errored: Integer,
    canceled: Integer,
    expired: Integer,
  }),
  created_at: AnyText,
  expires_at: AnyText,
  ended_at: nullable(AnyText),
  archived_at: Type.Null(),
  cancel_initiated_at: nullable(AnyText),
  results_url: nullable(AnyText),
  service: BatchServiceSchema,
});

const listOf = (name: string, item: typeof BatchSchema | typeof MessageBatchSchema) =>
  named(name, {
    data: Type.Array(item),
    first_id: nullable(AnyText),
    last_id: nullable(AnyText),
    has_more: Flag,
  });

const MaxCost = optional(Type.Number({ minimum: 0, maximum: 1_000_000 }));
const NewBatchSchema = named(
  "NewBatch",
  {
    input_file_id: AnyText,
    endpoint: listed(BATCH_PATHS),
    completion_window: Type.Literal("24h"),
    metadata: optional(AnyObject),
    output_expires_after: optional(AnyObject),
    service_max_cost_usd: MaxCost,
  },
  { additionalProperties: true },
);
const NewMessageBatchSchema = named(
  "NewMessageBatch",
  {
    requests: Type.Array(Type.Object({ custom_id: AnyText, params: AnyObject }), { minItems: 1 }),
    service_max_cost_usd: MaxCost,
  },
  { additionalProperties: true },
);
const NEW_BATCH = { input_file_id: "file-0123", endpoint: "/v1/chat/completions", completion_window: "24h" };
const HELLO = { model: "auto", max_tokens: 64, messages: [{ role: "user", content: "Hello" }] };
const MESSAGES = { errorSchema: MessagesErrorSchema };
const page = (...names: readonly string[]) => names.map((name) => query(name, AnyText, "The id of a batch."));

const RUN_OPERATIONS: readonly Operation[] = [
  v1("createBatch", "post", "/v1/batches", {
    summary: "Run the requests of a file within 24 hours, behind live traffic",
    body: json(NewBatchSchema, NEW_BATCH),
    response: json(BatchSchema),
    errors: [402, 404],
  }),
  v1("listBatches", "get", "/v1/batches", {
    summary: "The batches of the account, newest first",
    parameters: [...page("after"), query("limit", Type.Integer({ minimum: 1, maximum: 100 }))],
    response: json(listOf("BatchList", BatchSchema)),
    errors: [404],
  }),
  v1("getBatch", "get", "/v1/batches/{id}", {
    summary: "A batch with its counts and, once it is over, the files of its results",
    parameters: [ID],
    response: json(BatchSchema),
    errors: [404],
  }),
  v1("cancelBatch", "post", "/v1/batches/{id}/cancel", {
    summary: "Begin no more lines of a batch",
    parameters: [ID],
    response: json(BatchSchema),
    errors: [404, 409],
  }),
  v1("createMessageBatch", "post", "/v1/messages/batches", {
    summary: "The same in Anthropic's form",
    body: json(NewMessageBatchSchema, { requests: [{ custom_id: "1", params: HELLO }] }),
    response: json(MessageBatchSchema),
    errors: [402],
    ...MESSAGES,
  }),
  v1("listMessageBatches", "get", "/v1/messages/batches", {
    summary: "The message batches of the account",
    parameters: [...page("after_id", "before_id"), query("limit", Type.Integer({ minimum: 1, maximum: 1_000 }))],
    response: json(listOf("MessageBatchList", MessageBatchSchema)),
    errors: [404],
    ...MESSAGES,
  }),
  v1("getMessageBatch", "get", "/v1/messages/batches/{id}", {
    summary: "A message batch",
    parameters: [ID],
    response: json(MessageBatchSchema),
    errors: [404],
    ...MESSAGES,
  }),
  v1("cancelMessageBatch", "post", "/v1/messages/batches/{id}/cancel", {
    summary: "Begin no more requests of a message batch",
    parameters: [ID],
    response: json(MessageBatchSchema),
    errors: [404],
    ...MESSAGES,
  }),
  v1("deleteMessageBatch", "delete", "/v1/messages/batches/{id}", {
    summary: "Delete a message batch that is over",
    parameters: [ID],
    response: json(named("DeletedMessageBatch", { id: AnyText, type: Type.Literal("message_batch_deleted") })),
    errors: [404],
    ...MESSAGES,
  }),
  v1("getMessageBatchResults", "get", "/v1/messages/batches/{id}/results", {
    summary: "The results of a message batch that is over, a line of JSON each",
    parameters: [ID],
    response: { "application/x-jsonl": { schema: AnyText } },
    errors: [404],
    ...MESSAGES,
  }),
];

const GEMINI = { errorSchema: AnyObject };
const GEMINI_PAGE = [
  query("pageSize", Type.Integer({ minimum: 0, maximum: 100 })),
  query("pageToken", AnyText, "The `nextPageToken` of the page before."),
];
const geminiBatchOf = (request: object) => ({
  batch: { displayName: "night", inputConfig: { requests: { requests: [{ request }] } } },
});
const GREETING = { parts: [{ text: "Hello" }] };
const GeminiBatchSchema = named("GeminiBatch", { name: AnyText, metadata: AnyObject, done: Flag }, open);
const GeminiFileSchema = named("GeminiFile", { name: AnyText, uri: AnyText, sizeBytes: AnyText }, open);

const GEMINI_OPERATIONS: readonly Operation[] = [
  v1("createGeminiBatch", "post", "/v1beta/models/{model}:batchGenerateContent", {
    summary: "Run requests in Gemini's format within 24 hours; the model may be auto",
    parameters: [inPath("model")],
    body: json(named("NewGeminiBatch", { batch: AnyObject }, open), geminiBatchOf({ contents: [GREETING] })),
    response: json(GeminiBatchSchema),
    errors: [402, 404],
    ...GEMINI,
  }),
  v1("createGeminiEmbeddingBatch", "post", "/v1beta/models/{model}:asyncBatchEmbedContent", {
    summary: "Make embeddings in Gemini's form within 24 hours",
    parameters: [inPath("model")],
    body: json(named("NewGeminiEmbeddingBatch", { batch: AnyObject }, open), geminiBatchOf({ content: GREETING })),
    response: json(GeminiBatchSchema),
    errors: [402, 404],
    ...GEMINI,
  }),
  v1("listGeminiBatches", "get", "/v1beta/batches", {
    summary: "The batches of Gemini's form",
    parameters: GEMINI_PAGE,
    response: json(named("GeminiBatchList", { operations: Type.Array(GeminiBatchSchema) }, open)),
    errors: [404],
    ...GEMINI,
  }),
  v1("getGeminiBatch", "get", "/v1beta/batches/{id}", {
    summary: "A batch, with its answers or their file once it is over",
    parameters: [ID],
    response: json(GeminiBatchSchema),
    errors: [404],
    ...GEMINI,
  }),
  v1("cancelGeminiBatch", "post", "/v1beta/batches/{id}:cancel", {
    summary: "Begin no more requests of a batch",
    parameters: [ID],
    response: json(AnyObject),
    errors: [404],
    ...GEMINI,
  }),
  v1("deleteGeminiBatch", "delete", "/v1beta/batches/{id}", {
    summary: "Delete a batch that is over",
    parameters: [ID],
    response: json(AnyObject),
    errors: [404],
    ...GEMINI,
  }),
  v1("uploadGeminiFile", "post", "/upload/v1beta/files", {
    summary: "Upload a file in Google's resumable form, or with what is said about it as multipart/related",
    body: {
      "application/json": {
        schema: named("NewGeminiFile", { file: optional(AnyObject) }, open),
        example: { file: {} },
      },
      "multipart/related": { schema: Binary },
      "application/octet-stream": { schema: Binary },
    },
    response: json(AnyObject),
    errors: [402, 404, 409],
    ...GEMINI,
  }),
  v1("listGeminiFiles", "get", "/v1beta/files", {
    summary: "The files of the account",
    parameters: GEMINI_PAGE,
    response: json(named("GeminiFileList", { files: Type.Array(GeminiFileSchema) }, open)),
    errors: [404],
    ...GEMINI,
  }),
  v1("getGeminiFile", "get", "/v1beta/files/{id}", {
    summary: "A file, without its bytes",
    parameters: [ID],
    response: json(GeminiFileSchema),
    errors: [404],
    ...GEMINI,
  }),
  v1("downloadGeminiFile", "get", "/v1beta/files/{id}:download", {
    summary: "The bytes of a file, or the answers of a batch",
    parameters: [ID],
    response: { "application/octet-stream": { schema: Binary }, "application/x-jsonl": { schema: AnyText } },
    errors: [404],
    ...GEMINI,
  }),
  v1("deleteGeminiFile", "delete", "/v1beta/files/{id}", {
    summary: "Delete a file",
    parameters: [ID],
    response: json(AnyObject),
    errors: [404],
    ...GEMINI,
  }),
];

export const BATCH_OPERATIONS: readonly Operation[] = [
  v1("createFile", "post", "/v1/files", {
    summary: "Upload a file, for instance the lines of a batch",
    body: { "multipart/form-data": { schema: FileFormSchema } },
    response: json(FileSchema),
    errors: [402],
  }),
  v1("listFiles", "get", "/v1/files", {
    summary: "The files of the account, newest first",
    parameters: [
      query("purpose", AnyText),
      query("order", listed(["asc", "desc"])),
      query("after", AnyText, "The id of the file after which the page begins."),
      query("limit", Type.Integer({ minimum: 1, maximum: FILES_AT_ONCE })),
    ],
    response: json(FileListSchema),
    errors: [404],
  }),
  v1("getFile", "get", "/v1/files/{id}", {
    summary: "A file, without its bytes",
    parameters: [ID],
    response: json(FileSchema),
    errors: [404],
  }),
  v1("getFileContent", "get", "/v1/files/{id}/content", {
    summary: "The bytes of a file",
    parameters: [ID],
    response: { "application/octet-stream": { schema: Binary }, "application/x-jsonl": { schema: AnyText } },
    errors: [404],
  }),
  v1("deleteFile", "delete", "/v1/files/{id}", {
    summary: "Delete a file",
    parameters: [ID],
    response: json(named("DeletedFile", { id: AnyText, object: Type.Literal("file"), deleted: Flag })),
    errors: [404],
  }),
  ...UPLOAD_OPERATIONS,
  ...RUN_OPERATIONS,
  ...GEMINI_OPERATIONS,
];
