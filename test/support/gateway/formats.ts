// The wire formats that ship, for parts of the edge that are tested without the rest.

import { createFormats } from "../../../src/formats/registry.ts";
import { createRequestFormats, type RequestFormats } from "../../../src/http/exchange/request-format.ts";
import { COMPLETION_ROUTES } from "../../../src/http/v1/completions.ts";

export const SHIPPED_FORMATS: RequestFormats = createRequestFormats(createFormats(), COMPLETION_ROUTES);
