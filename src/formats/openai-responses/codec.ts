// The Responses format, for clients and providers.

import type { Format } from "../format.ts";
import { responsesClient } from "./client.ts";
import { responsesProvider } from "./provider.ts";

export const openaiResponses: Format = { ...responsesClient, ...responsesProvider };
