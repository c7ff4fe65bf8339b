// The feeds: public lists of prices that the catalogue is compared with.

interface Feed {
  /** The name in sources of prices and as the author of versions. */
  readonly label: string;
  readonly url: string;
}

/** The first feed that has a price counts where several agree, because it has the most details. */
export const FEEDS = {
  litellm: {
    label: "LiteLLM",
    url: "https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json",
  },
  genai: {
    label: "genai-prices",
    url: "https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/data.json",
  },
  openrouter: { label: "OpenRouter", url: "https://openrouter.ai/api/v1/models" },
} as const satisfies Readonly<Record<string, Feed>>;

export type FeedId = keyof typeof FEEDS;
export const FEED_IDS = Object.keys(FEEDS) as readonly FeedId[];

const AND = " and ";

/** The source of a price that these feeds agree on. */
export function feedSource(feeds: readonly FeedId[]): string {
  return feeds.map((feed) => FEEDS[feed].label).join(AND);
}

/** Tells whether a price came from feeds. Adopted prices had the address of a list as their source before. */
export function isFeedSource(source: string, addresses: readonly string[] = []): boolean {
  const labels: readonly string[] = FEED_IDS.map((feed) => FEEDS[feed].label);
  const urls: readonly string[] = [...FEED_IDS.map((feed) => FEEDS[feed].url), ...addresses];
  return urls.includes(source) || source.split(AND).every((part) => labels.includes(part));
}
