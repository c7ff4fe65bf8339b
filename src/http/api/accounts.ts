// /api/accounts: the accounts that keys, credits and requests belong to. For operators.

import { Type } from "typebox";
import { type Account, BILLING_MODES } from "../../core/accounts.ts";
import { shownName } from "../../core/names.ts";
import { AnyText, listed, Name, named, nullable, page, type Shape, strict, Time } from "../openapi/schema.ts";
import { idOf, isoTime, listPage, pageOf, paging } from "./exchange.ts";
import { type ApiRoute, get, patch, post } from "./route.ts";

/** An account owns keys, profiles, credits and requests. Users see one account, operators all of them. */
export const AccountSchema = named("Account", {
  id: AnyText,
  name: AnyText,
  // The mode of the account; null follows the gateway's setting.
  billingMode: nullable(listed(BILLING_MODES)),
  createdAt: Time,
});
const NewAccountSchema = strict("NewAccount", { name: Name });
const AccountChangeSchema = strict("AccountChange", { billingMode: nullable(Type.Enum([...BILLING_MODES])) });

/** For operators only: an owner cannot even learn which other accounts exist. */
export const ACCOUNT_ROUTES: readonly ApiRoute[] = [
  post("createAccount", "/api/accounts", {
    summary: "Create an account",
    access: "operator",
    body: NewAccountSchema,
    status: 201,
    response: AccountSchema,
    handle: async ({ body }, { accounts }) => writeAccount(await accounts.create(body().name)),
  }),
  // Requests that run keep the mode they began with.
  patch("changeAccount", "/api/accounts/:id", {
    summary: "Choose prepaid or metered billing for an account; null follows the gateway's setting",
    access: "operator",
    body: AccountChangeSchema,
    example: { billingMode: "metered" },
    response: AccountSchema,
    errors: [404],
    handle: async ({ request, body }, { accounts }) =>
      writeAccount(await accounts.setBillingMode(idOf(request, "account"), body().billingMode)),
  }),
  get("listAccounts", "/api/accounts", {
    summary: "The accounts",
    access: "operator",
    parameters: paging,
    response: page(AccountSchema),
    handle: ({ request }, { accounts }) => listPage(pageOf(request), (each) => accounts.list(each), writeAccount),
  }),
];

/** The account as it is shown, with its time in ISO 8601. */
function writeAccount({ id, name, billingMode, createdAtMs }: Account): Shape<typeof AccountSchema> {
  return { id, name: shownName(name), billingMode, createdAt: isoTime(createdAtMs) };
}
