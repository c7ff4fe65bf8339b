// The provider's end of Converse, which Bedrock has for all of its models. There is no client's end.

import type { ProviderFormat } from "../format.ts";
import { objectsIn } from "../json/fields.ts";
import { parseObject } from "../json/parse.ts";
import { readListedModels } from "../service/provider-models.ts";
import { CONVERSE } from "./blocks.ts";
import { embeddings } from "./embeddings.ts";
import { readConverseError } from "./errors.ts";
import { takesPart } from "./parts.ts";
import { readConverseResponse } from "./read-response.ts";
import { createConverseStreamReader } from "./read-stream.ts";
import { mayLeaveOut, tierFields, writeConverseRequest } from "./write-request.ts";

export const converse: ProviderFormat = {
  name: CONVERSE,
  takesPart,
  tierFields,
  endpoints: { embeddings },
  // No client speaks the format, so every request is one that was converted.
  passRequest: writeConverseRequest,
  writeRequest: writeConverseRequest,
  mayLeaveOut,
  readResponse: readConverseResponse,
  streamReader: createConverseStreamReader,
  readError: readConverseError,
  // Bedrock lists its models at another host, so this address answers that there is none.
  listing: {
    request: () => ({ path: "/foundation-models", headers: {} }),
    read: readListedModels,
    enabling: {
      form: "lists",
      paths: ["/foundation-models", "/inference-profiles?maxResults=1000"],
      addressFor: (baseUrl) => baseUrl.replace("//bedrock-runtime.", "//bedrock."),
      read: readEnabled,
    },
  },
};

/** Models, and inference profiles of models. */
function readEnabled(bytes: Buffer): readonly string[] | null {
  const { modelSummaries, inferenceProfileSummaries } = parseObject(bytes) ?? {};
  const list = modelSummaries ?? inferenceProfileSummaries;
  if (!Array.isArray(list)) return null;
  return objectsIn(list).map(({ modelId, inferenceProfileId }) => String(modelId ?? inferenceProfileId));
}
