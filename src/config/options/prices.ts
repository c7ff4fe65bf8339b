// Options of price lists: where prices are compared with, how often, and which changes need nobody's approval.

import { listOf, number, text } from "../readers.ts";
import { option } from "./option.ts";

const PRICE_LIST = "https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json";

/** Section `prices` of the settings. */
export const PRICE_OPTIONS = {
  priceListUrl: option<string>({
    path: "prices.url",
    env: "SWITCHYARD_PRICES_URL",
    default: PRICE_LIST,
    read: text({ test: (value) => /^https?:\/\//.test(value) && URL.canParse(value), expected: "an http address" }),
    help: "The price list that prices are compared with, in the form of LiteLLM or of OpenRouter's models endpoint.",
  }),
  priceCheckHours: option<number>({
    path: "prices.checkHours",
    env: "SWITCHYARD_PRICES_CHECK_HOURS",
    default: 0,
    shownDefault: "0 (never)",
    read: number({ min: 0, max: 8760 }),
    help: "How often prices are compared with the list by themselves, in hours.",
  }),
  catalogueKeys: option<readonly string[]>({
    path: "prices.catalogueKeys",
    env: "SWITCHYARD_CATALOGUE_KEYS",
    default: [],
    shownDefault: "none but the maintainers'",
    read: listOf(
      text({ test: (value) => /^[A-Za-z0-9+/]{43}=$/.test(value), expected: "a public key: 32 bytes in base64" }),
    ),
    help: "Further public keys whose signature on a catalogue file is trusted, as models sign prints them; comma-separated in the variable.",
  }),
  priceMaxChangePercent: option<number>({
    path: "prices.maxChangePercent",
    env: "SWITCHYARD_PRICES_MAX_CHANGE_PERCENT",
    default: 0,
    shownDefault: "0 (every change is only logged)",
    read: number({ min: 0, max: 1000 }),
    help: "A change of at most this many percent is taken over by the scheduled comparison. Larger ones are logged.",
  }),
};
