// Gemini's format, for clients and providers.

import type { Format } from "../format.ts";
import { geminiClient } from "./client.ts";
import { geminiProvider } from "./provider.ts";

export const gemini: Format = { ...geminiClient, ...geminiProvider };
