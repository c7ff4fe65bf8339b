// The client's end of the Responses format.

import { dataUrlOf, referencesById } from "../file-references.ts";
import type { ClientFormat } from "../format.ts";
import { writeModel, writeModels } from "../service/model-list.ts";
import { writeResponsesError } from "./errors.ts";
import { RESPONSES } from "./items.ts";
import { passResponsesResponse, passResponsesStream } from "./pass-through.ts";
import { RESPONSES_PATHS } from "./paths.ts";
import { isStateless, readCountRequest, readResponsesRequest, withPrompt } from "./read-request.ts";
import { responseWriter } from "./response-object.ts";
import { STORED_FORM } from "./stored/form.ts";
import { writeChatBody } from "./to-chat/request.ts";
import { writeResponsesResponse } from "./write-response.ts";
import { createResponsesStreamWriter } from "./write-stream.ts";

/** Files that the parts of a request name by their id. */
const responsesFileReferences = referencesById({
  field: "input",
  idOf: ({ type, file_id: id }) => (type === "input_file" || type === "input_image" ? id : null),
  replaced({ file_id: _named, ...part }, file) {
    const url = dataUrlOf(file);
    return part.type === "input_image"
      ? { ...part, image_url: url }
      : { ...part, filename: part.filename ?? file.name, file_data: url };
  },
});

export const responsesClient: ClientFormat = {
  name: RESPONSES,
  idempotencyScope: RESPONSES,
  outputCapField: "max_output_tokens",
  paths: RESPONSES_PATHS,
  habits: {
    keyHeader: null,
    requestIdHeader: null,
    // Such clients have no header of their own, but no other format has this field.
    isSentBy: (_headers, body) => body?.input !== undefined && body.messages === undefined,
  },
  unread: { list: "input", names: [["content", "output"], ["text"]], allowsSource: isStateless },
  readRequest: readResponsesRequest,
  toChat: writeChatBody,
  mayCacheLong: () => false,
  writeResponse: writeResponsesResponse,
  passResponse: passResponsesResponse,
  streamWriter: createResponsesStreamWriter,
  passStream: passResponsesStream,
  writeQueued: (context) => JSON.parse(responseWriter(context)({ status: "queued", service: null })),
  writeError: writeResponsesError,
  models: { list: writeModels, one: writeModel },
  counting: {
    readRequest: readCountRequest,
    writeCount: (inputTokens) => ({ object: "response.input_tokens", input_tokens: inputTokens }),
  },
  withPrompt,
  stored: STORED_FORM,
  fileReferences: responsesFileReferences,
};
