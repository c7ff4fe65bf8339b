// Options of price checks: the feeds, how often they are read, and what is taken over without an operator.

import { FEEDS } from "../../catalog/prices/feeds.ts";
import { listOf, number, oneOf, text } from "../readers.ts";
import { option } from "./option.ts";

/** An address, a file, or `off`. */
const place = text({
  test: (value) =>
    value !== "" && (!/^[a-z]+:\/\//i.test(value) || (/^https?:\/\//i.test(value) && URL.canParse(value))),
  expected: "an http address, a file, or off",
});

export const PRICE_CHECKS = ["daily", "off"] as const;
/** Ways to treat a model that a provider lists, a feed prices and the catalogue lacks. */
export const ADOPTIONS = ["named", "auto", "off"] as const;

/** Section `prices` of the settings. */
export const PRICE_OPTIONS = {
  priceCheck: option<(typeof PRICE_CHECKS)[number]>({
    path: "prices.check",
    isLive: true,
    env: "SWITCHYARD_PRICES_CHECK",
    default: "daily",
    read: oneOf(PRICE_CHECKS),
    help: "daily reads the feeds and the model lists of your providers by itself. Prices that two feeds agree on are taken over. off reads nothing.",
  }),
  priceCheckHours: option<number>({
    path: "prices.checkHours",
    isLive: true,
    env: "SWITCHYARD_PRICES_CHECK_HOURS",
    default: 24,
    read: number({ min: 0, max: 8760 }),
    help: "How many hours pass between two price checks. 0 is never.",
  }),
  priceListUrl: option<string>({
    path: "prices.url",
    env: "SWITCHYARD_PRICES_URL",
    default: FEEDS.litellm.url,
    read: place,
    help: "The feed in the form of LiteLLM: an address, a file, or off.",
  }),
  genaiPricesUrl: option<string>({
    path: "prices.genaiUrl",
    env: "SWITCHYARD_PRICES_GENAI_URL",
    default: FEEDS.genai.url,
    read: place,
    help: "The feed in the form of Pydantic's genai-prices: an address, a file, or off.",
  }),
  openrouterPricesUrl: option<string>({
    path: "prices.openrouterUrl",
    env: "SWITCHYARD_PRICES_OPENROUTER_URL",
    default: FEEDS.openrouter.url,
    read: place,
    help: "The feed in the form of OpenRouter's models endpoint: an address, a file, or off.",
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
    isLive: true,
    env: "SWITCHYARD_PRICES_MAX_CHANGE_PERCENT",
    default: 200,
    read: number({ min: 0, max: 10_000 }),
    help: "The largest change that is taken over when two feeds agree: 200 is up to three times the price, or a third of it. Larger ones wait for you.",
  }),
  adoption: option<(typeof ADOPTIONS)[number]>({
    path: "catalog.adopt",
    env: "SWITCHYARD_CATALOG_ADOPT",
    default: "named",
    read: oneOf(ADOPTIONS),
    help: "What happens with a model that your provider lists and a feed prices, but the catalogue lacks. named: callable by name. auto: also last in the chain of its price. off: nothing.",
  }),
};
