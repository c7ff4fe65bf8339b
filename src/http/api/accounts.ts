// /api/accounts: the accounts that keys, credits and requests belong to. For operators.

import type { Account } from "../../core/accounts.ts";
import { AnyText, Name, named, page, type Shape, strict, Time } from "../openapi/schema.ts";
import { isoTime, listPage, pageOf, paging } from "./exchange.ts";
import { type ApiRoute, get, post } from "./route.ts";

/** An account owns keys, profiles, credits and requests. Users see one account, operators all of them. */
export const AccountSchema = named("Account", { id: AnyText, name: AnyText, createdAt: Time });
const NewAccountSchema = strict("NewAccount", { name: Name });

/** For operators only: an owner cannot even learn which other accounts exist. */
export const ACCOUNT_ROUTES: readonly ApiRoute[] = [
  post("createAccount", "/api/accounts", {
    summary: "Make an account",
    access: "operator",
    body: NewAccountSchema,
    status: 201,
    response: AccountSchema,
    handle: async ({ body }, { accounts }) => writeAccount(await accounts.create(body().name)),
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
function writeAccount({ id, name, createdAtMs }: Account): Shape<typeof AccountSchema> {
  return { id, name, createdAt: isoTime(createdAtMs) };
}
