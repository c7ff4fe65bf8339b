// Options of cascades: the webhooks that check answers, by profile.

import { hostKind } from "../network.ts";
import { listOf, number, secretText, text, truth } from "../readers.ts";
import type { Report } from "../report.ts";
import { option, type ValuesOf } from "./option.ts";

/** An id of a profile, and the address to ask. */
const WEBHOOK = /^([\w-]{1,64})=(https?:\/\/\S{1,2000})$/;

const webhook = text({
  test: (value) => WEBHOOK.test(value) && URL.canParse(WEBHOOK.exec(value)?.[2] ?? ""),
  expected: "PROFILE=URL, with the id of a profile and an http or https address",
});

/** Section `cascade` of the settings. */
export const CASCADE_OPTIONS = {
  cascadeWebhooks: option<readonly string[]>({
    path: "cascade.webhooks",
    env: "SWITCHYARD_CASCADE_WEBHOOKS",
    default: [],
    shownDefault: "none",
    read: listOf(webhook),
    help: "Webhooks that check the answers of cascades, as PROFILE=URL with the id of the profile.",
  }),
  cascadeWebhookSecret: option<string | null>({
    path: "cascade.webhookSecret",
    env: "SWITCHYARD_CASCADE_WEBHOOK_SECRET",
    default: null,
    shownDefault: "none",
    isSecret: true,
    read: secretText,
    help: "What calls to those webhooks are signed with. Required where there is a webhook.",
  }),
  cascadeWebhookTimeoutMs: option<number>({
    path: "cascade.webhookTimeoutMs",
    env: "SWITCHYARD_CASCADE_WEBHOOK_TIMEOUT_MS",
    default: 30_000,
    read: number({ min: 100, max: 600_000, isWhole: true }),
    help: "How long a webhook may take. An answer that was not checked by then has failed.",
  }),
  cascadeWebhookPrivate: option<boolean>({
    path: "cascade.webhookPrivateNetwork",
    env: "SWITCHYARD_CASCADE_WEBHOOK_PRIVATE_NETWORK",
    default: false,
    read: truth,
    help: "Whether a webhook may have an address of a private network.",
  }),
};

type CascadeValues = ValuesOf<typeof CASCADE_OPTIONS>;

/** Returns the terms on which webhooks are called. */
export function webhookTerms(values: CascadeValues) {
  const { cascadeWebhookSecret, cascadeWebhookTimeoutMs: timeoutMs, cascadeWebhookPrivate: allowsPrivate } = values;
  return { urls: webhooksOf(values), secret: cascadeWebhookSecret ?? "", timeoutMs, allowsPrivate };
}

/** Addresses by the id of their profile. */
function webhooksOf({ cascadeWebhooks }: Pick<CascadeValues, "cascadeWebhooks">): ReadonlyMap<string, string> {
  return new Map(cascadeWebhooks.map((each) => WEBHOOK.exec(each)?.slice(1, 3) as [string, string]));
}

/** Reports webhooks that cannot be called as the other options have it. */
export function checkWebhooks(values: CascadeValues, { problems }: Report): void {
  const { cascadeWebhooks = [], cascadeWebhookSecret, cascadeWebhookPrivate } = values;
  const report = (place: string, message: string) => problems.push({ place, message, suggestion: null });
  if (cascadeWebhooks.length > 0 && cascadeWebhookSecret === null) {
    report("cascade.webhookSecret", "is missing: calls to cascade.webhooks are signed with it");
  }
  for (const url of webhooksOf({ cascadeWebhooks }).values()) {
    const kind = hostKind(new URL(url).hostname);
    if (kind === "forbidden") report("cascade.webhooks", "has an address that is never called");
    else if (kind === "private" && !cascadeWebhookPrivate) {
      report("cascade.webhooks", "has an address of a private network; cascade.webhookPrivateNetwork allows that");
    }
  }
}
