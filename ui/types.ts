// The shapes that /api returns, under the names the dashboard uses. They are derived from the schemas beside the routes;
// only types are imported, so no schema reaches the bundle. Amounts are decimal text in USD, times ISO 8601.

import type { AccountSchema } from "../src/http/api/accounts.ts";
import type { AlertEventSchema } from "../src/http/api/alerts/events.ts";
import type {
  AlertMessageSchema,
  AlertTargetSchema,
  AlertTestSchema,
  MadeAlertTargetSchema,
} from "../src/http/api/alerts/targets.ts";
import type { ListedAuditEntrySchema } from "../src/http/api/audit/routes.ts";
import type { BudgetSchema } from "../src/http/api/budgets.ts";
import type { VersionSchema } from "../src/http/api/configuration/exchange.ts";
import type { PricesSchema } from "../src/http/api/configuration/prices.ts";
import type { VendorSchema } from "../src/http/api/configuration/vendors.ts";
import type { ConfigurationSchema } from "../src/http/api/configuration/versions.ts";
import type { CreditsSchema } from "../src/http/api/credits.ts";
import type { FoundServerSchema } from "../src/http/api/discovery.ts";
import type { ExploreSchema } from "../src/http/api/explore.ts";
import type { KeySchema, ListedKeySchema } from "../src/http/api/key-json.ts";
import type { CreatedKeySchema, KeyPageSchema } from "../src/http/api/keys.ts";
import type { LedgerDaySchema, LedgerLineSchema, LedgerMonthSchema } from "../src/http/api/ledger.ts";
import type { CatalogModelSchema } from "../src/http/api/models.ts";
import type { OutcomesSchema } from "../src/http/api/outcomes.ts";
import type { InvitedSchema, SessionSchema } from "../src/http/api/people/login.ts";
import type {
  NewPasskeyOptionsSchema,
  PasskeySignInOptionsSchema,
  PasskeysSchema,
} from "../src/http/api/people/passkeys.ts";
import type { IdentitiesSchema, IdentityProvidersSchema, SignOutSchema } from "../src/http/api/people/sign-in.ts";
import type { ListedTeamSchema } from "../src/http/api/people/teams.ts";
import type {
  CreatedInvitationSchema,
  InvitationSchema,
  ResetLinkSchema,
  UserSchema,
} from "../src/http/api/people/users.ts";
import type { ListedProfileSchema, ProfileSchema } from "../src/http/api/profiles.ts";
import type { HealthSchema, ProviderSchema, ProviderTestedSchema } from "../src/http/api/providers.ts";
import type { ReplaySchema } from "../src/http/api/replay.ts";
import type { RequestLineSchema } from "../src/http/api/requests/line.ts";
import type { OverviewSchema } from "../src/http/api/requests/overview.ts";
import type { RecordedDecisionSchema, RecordedRequestSchema } from "../src/http/api/requests/record.ts";
import type { HistogramSchema, TotalsSchema } from "../src/http/api/requests/routes.ts";
import type { RequestSessionDetailSchema, RequestSessionSchema } from "../src/http/api/requests/sessions.ts";
import type { SettingsSchema } from "../src/http/api/settings.ts";
import type { FailurePageSchema, UsageSchema } from "../src/http/api/usage.ts";
import type { Shape } from "../src/http/openapi/schema.ts";

export interface List<Row> {
  readonly data: readonly Row[];
  readonly next: string | null;
}

/** Invitation that a link leads to. */
export type Invited = Shape<typeof InvitedSchema>;
/** Identity providers to sign in with. */
export type IdentityProviders = Shape<typeof IdentityProvidersSchema>;
/** Identities that the user has linked. */
export type Identities = Shape<typeof IdentitiesSchema>;
/** Passkeys of the user. */
export type Passkeys = Shape<typeof PasskeysSchema>;
/** Options with which the browser makes a passkey, or asks for one. */
export type NewPasskeyOptions = Shape<typeof NewPasskeyOptionsSchema>;
export type PasskeySignInOptions = Shape<typeof PasskeySignInOptionsSchema>;
/** Address that ends the session at the identity provider. */
export type SignedOut = Shape<typeof SignOutSchema>;
export type AlertEvent = Shape<typeof AlertEventSchema>;
export type AlertTarget = Shape<typeof AlertTargetSchema>;
/** Target with its signing secret, which is shown only once. */
export type MadeAlertTarget = Shape<typeof MadeAlertTargetSchema>;
/** Answer of a receiver to a test. */
export type AlertTested = Shape<typeof AlertTestSchema>;
export type AlertMessage = Shape<typeof AlertMessageSchema>;
export type Account = Shape<typeof AccountSchema>;
export type Budget = Shape<typeof BudgetSchema>;
export type Team = Shape<typeof ListedTeamSchema>;
export type Key = Shape<typeof KeySchema>;
/** Key with its usage of 30 days. */
export type ListedKey = Shape<typeof ListedKeySchema>;
export type KeyPage = Shape<typeof KeyPageSchema>;
/** One metric by one or two dimensions. */
export type Explore = Shape<typeof ExploreSchema>;
/** Key with its text, which is shown only once. */
export type NewKey = Shape<typeof CreatedKeySchema>;
export type Profile = Shape<typeof ProfileSchema>;
export type ListedProfile = Shape<typeof ListedProfileSchema>;
/** The keys of a profile, some of them. */
export interface ProfileKeyPage extends List<Key> {
  readonly total: number;
}
/** A profile without its name: what it changes about routing. */
export type Rules = Omit<Profile, "id" | "name" | "description" | "shadow" | "createdAt" | "updatedAt">;
export type Outcomes = Shape<typeof OutcomesSchema>;
export type AuditEntry = Shape<typeof ListedAuditEntrySchema>;
export type Credits = Shape<typeof CreditsSchema>;
export type LedgerEntry = Shape<typeof LedgerLineSchema>;
export type LedgerMonth = Shape<typeof LedgerMonthSchema>;
export type LedgerDay = Shape<typeof LedgerDaySchema>;
export type Model = Shape<typeof CatalogModelSchema>;
/** Place of a model in a chain; the model at 1 is asked first. */
export type ChainPlace = Model["chains"][number];
/** Tool calls of a model that the account saw in one scenario, and their effect on the score. */
export type SeenToolCalls = Model["toolCalls"][number];
export type HealthState = Shape<typeof HealthSchema>;
export type Provider = Shape<typeof ProviderSchema>;
/** A provider that ships, which needs nothing but a key. */
export type Vendor = Shape<typeof VendorSchema>;
/** Values that were set at run time, and those that file and environment set instead. */
export type Configuration = Shape<typeof ConfigurationSchema>;
/** Findings of the last price check. */
export type PriceReview = Shape<typeof PricesSchema>;
/** A model server that somebody runs themselves. */
export type FoundServer = Shape<typeof FoundServerSchema>;
export type ConfigurationVersion = Shape<typeof VersionSchema>;
export type Usage = Shape<typeof UsageSchema>;
export type RequestTotals = Shape<typeof TotalsSchema>;
export type RequestSession = Shape<typeof RequestSessionSchema>;
export type SessionDetail = Shape<typeof RequestSessionDetailSchema>;
/** Everything on the overview, of one range and one moment. */
export type OverviewData = Shape<typeof OverviewSchema>;
export type Share = OverviewData["tiers"][number];
export type RequestLine = Shape<typeof RequestLineSchema>;
export type RequestDetail = Shape<typeof RecordedRequestSchema>;

type RecordedDecision = Shape<typeof RecordedDecisionSchema>;
/** A decision as it is shown: recorded, or made just now in the playground, where candidates have a price. */
export type Decision = Omit<RecordedDecision, "candidates" | "classifiedTier"> & {
  readonly candidates: readonly Candidate[];
  readonly classifiedTier?: string | null;
};
export type Candidate = RecordedDecision["candidates"][number] & { readonly costUsd?: string };

/** Effect that rules which are not saved yet would have had on the last requests. */
export type ReplayResult = Shape<typeof ReplaySchema>;
/** One request that would change; `after` is null where it would be rejected. */
export type ReplayedChange = ReplayResult["changes"][number];
/** Outcome of a test of a provider: `problem` says what is wrong, `fix` what to do. */
export type ProviderTested = Shape<typeof ProviderTestedSchema>;
/** Requests that a provider failed, in one step. */
export type Failures = Shape<typeof FailurePageSchema>["data"][number];
/** Requests and errors of one step, under the filters of the request log. */
export type HistogramBar = Shape<typeof HistogramSchema>["data"][number];
/** User who is signed in, if any, and what the gateway says about itself. */
export type Session = Shape<typeof SessionSchema>;
/** Options that the gateway runs with. Values are read at the start and cannot be changed in the dashboard. */
export type GatewaySettings = Shape<typeof SettingsSchema>;
export type User = Shape<typeof UserSchema>;
export type Invitation = Shape<typeof InvitationSchema>;
/** Invitation with its link, which is shown only once. */
export type NewInvitation = Shape<typeof CreatedInvitationSchema>;
/** Link to a new password, which is shown only once. */
export type ResetLink = Shape<typeof ResetLinkSchema>;
