// The wire formats that ship, for parts of the edge that are tested without the rest.

import { createRequestFormats, type RequestFormats } from "../../../src/http/exchange/request-format.ts";

export const SHIPPED_FORMATS: RequestFormats = createRequestFormats();
