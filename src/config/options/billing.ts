// Options of money: what a first start may spend, and whether an empty balance refuses requests.

import { BILLING_MODES, type BillingMode } from "../../core/accounts.ts";
import { number, oneOf } from "../readers.ts";
import { option } from "./option.ts";

/** Section `billing` of the settings. */
export const BILLING_OPTIONS = {
  billingMode: option<BillingMode>({
    path: "billing.mode",
    isLive: true,
    env: "SWITCHYARD_BILLING_MODE",
    default: "prepaid",
    read: oneOf(BILLING_MODES),
    help: "prepaid: requests fail with 402 once the balance is used up. metered: everything is charged and recorded, and nothing is refused for lack of credits.",
  }),
  starterCredits: option<number>({
    path: "billing.starterCredits",
    env: "SWITCHYARD_STARTER_CREDITS",
    default: 5,
    read: number({ min: 0, max: 1_000_000 }),
    help: "USD that the first start gives the account default, as a spending cap. 0 gives nothing.",
  }),
};
