// The Responses format at the provider's end.

import type { ProviderFormat } from "../format.ts";
import { tierFields } from "../provider/service-tier.ts";
import { readListedModels } from "../service/provider-models.ts";
import { readResponsesError } from "./faults.ts";
import { takesPart } from "./from-chat/input.ts";
import { RESPONSES } from "./items.ts";
import { readResponsesResponse } from "./read-response.ts";
import { createResponsesStreamReader } from "./read-stream.ts";
import { effortFields, mayLeaveOut, passResponsesRequest, writeResponsesRequest } from "./write-request.ts";

export const responsesProvider: ProviderFormat = {
  name: RESPONSES,
  takesPart,
  effortFields,
  tierFields,
  passRequest: passResponsesRequest,
  writeRequest: writeResponsesRequest,
  mayLeaveOut,
  readResponse: readResponsesResponse,
  streamReader: createResponsesStreamReader,
  readError: readResponsesError,
  listing: { request: () => ({ path: "/models", headers: {} }), read: readListedModels },
};
