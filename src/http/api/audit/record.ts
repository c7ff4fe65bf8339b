// Records the changes that routes make. What an entry says comes from the table of routes: the operation is the action, the
// path names the object, and the GET of the same object tells how it was before and after.

import { isDeepStrictEqual } from "node:util";
import type { FastifyRequest } from "fastify";
import { DEFAULT_ACCOUNT } from "../../../accounts/accounts.ts";
import { GatewayError } from "../../../core/errors.ts";
import { isJsonMap, type Json, type JsonMap } from "../../../core/overlay.ts";
import type { User } from "../../../core/people.ts";
import { parseBody } from "../../../formats/json/parse.ts";
import { type AuditActor, type AuditEntry, withoutSecrets } from "../../../store/audit/entry.ts";
import { openScope } from "../../../store/audit/scope.ts";
import type { OperatorContext } from "../../context.ts";
import { bodyOf } from "../../exchange/body.ts";
import { ownAccountOf, personOf } from "../../exchange/identity.ts";
import type { Parameter } from "../../openapi/operation.ts";
import { account, PLAIN_ID, queryOf } from "../exchange.ts";

interface RecordedCall {
  readonly request: FastifyRequest;
}

/** A handler of a route, as far as it matters here. */
type Handle<Given extends RecordedCall> = (call: Given, edge: OperatorContext) => unknown;

/** A route, as far as it matters here. */
interface RecordedRoute {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly access?: string;
  readonly spansAccounts?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly changesNothing?: boolean;
  readonly isAudited?: boolean;
  readonly handle?: unknown;
}

/** Tells whether calls of a route are recorded. A new route is, unless it says otherwise. */
export function isRecorded({ method, changesNothing = false, isAudited }: RecordedRoute): boolean {
  return isAudited ?? (method !== "get" && !changesNothing);
}

/** The handler of a route, with an entry for each call that changes something. */
export function recorded<Given extends RecordedCall>(
  route: RecordedRoute,
  routes: readonly RecordedRoute[],
  handle: Handle<Given>,
): Handle<Given> {
  const read = readerOf(route, routes);
  return async (call, edge) => {
    const started = entryOf(route, call, edge.now());
    const before = read === null ? null : await read(call, edge);
    try {
      return await edge.audit.during(
        { ...started, before },
        {
          make: async () => handle(call, edge),
          async describe(result, { entry }) {
            // A page that is opened without a sign-in under way.
            if (route.method === "get" && entry.actor.kind === "anonymous" && entry.outcome === "done") return null;
            const after = read === null ? null : await read(call, edge);
            return described(entry, { result: withoutSecrets(result), after });
          },
          isRefusal: (error) => error instanceof GatewayError,
          onLost: (err, { action, object, actor }) =>
            edge.log.error(
              { event: "audit.failed", err, action, object, actor: actor.name },
              "audit entry not written",
            ),
        },
      );
    } catch (error) {
      if (route.access === "anyone" && isUnauthenticated(error)) await noteRefusal(started, edge);
      throw error;
    }
  };
}

/** Completes the entry of a sign-in with the person who signed in. */
export function noteSignedIn({ email, role, accountId }: User): void {
  const scope = openScope();
  if (scope === null) return;
  const own = role === "operator" ? null : accountId;
  scope.entry = { ...scope.entry, actor: { kind: "user", name: email, accountId: own }, accountId: own };
}

/** Marks the entry of a sign-in whose error became a page. */
export function noteRefused(code: string): void {
  const scope = openScope();
  if (scope !== null) scope.entry = { ...scope.entry, outcome: "refused", after: { code } };
}

function isUnauthenticated(error: unknown): boolean {
  return error instanceof GatewayError && error.kind === "unauthenticated";
}

async function noteRefusal(entry: AuditEntry, { audit, log }: OperatorContext): Promise<void> {
  await audit
    .append({ ...entry, outcome: "refused" })
    .catch((err: unknown) =>
      log.error({ event: "audit.failed", err, action: entry.action }, "audit entry not written"),
    );
}

function entryOf(
  { id, path, access = "manage", spansAccounts = false, parameters = [] }: RecordedRoute,
  { request }: RecordedCall,
  atMs: number,
): AuditEntry {
  const body = withoutSecrets(parsedBody(request));
  const params = Object.values(request.params as Readonly<Record<string, string>>);
  const [, section = ""] = /^\/(?:api|scim\/v2)\/([^/]+)/.exec(path) ?? [];
  return {
    atMs,
    actor: actorOf(request, body),
    action: id,
    object: [section, ...params].join("/"),
    accountId: accountOf(request, (!spansAccounts && isOfAccount(access)) || parameters.includes(account)),
    outcome: "done",
    address: request.ip,
    requestId: request.id,
    before: null,
    after: body,
  };
}

/** Somebody who signs in is known by the address they give until they have proved it. */
function actorOf({ identity }: FastifyRequest, body: Json): AuditActor {
  if (identity === null) {
    const email = isJsonMap(body) && typeof body.email === "string" ? body.email : "";
    return { kind: "anonymous", name: email, accountId: null };
  }
  if (identity.kind === "admin") return { kind: "admin_token", name: "admin token", accountId: null };
  const person = personOf(identity);
  const accountId = person === null || person.role === "operator" ? null : person.accountId;
  return { kind: identity.kind, name: person?.name ?? "", accountId };
}

/** Tells whether calls with this access are about one account. */
function isOfAccount(access: string): boolean {
  return !["anyone", "ownLogin", "operator", "scim"].includes(access);
}

/** The account whose owner may see the entry. */
function accountOf(request: FastifyRequest, isAboutAccount: boolean): string | null {
  const own = ownAccountOf(request);
  if (!isAboutAccount) return own;
  const wanted = own ?? queryOf(request, "account") ?? personOf(request.identity)?.accountId ?? DEFAULT_ACCOUNT;
  return PLAIN_ID.test(wanted) ? wanted : null;
}

function parsedBody(request: FastifyRequest): Json {
  try {
    return bodyOf(request).length === 0 ? null : (parseBody(bodyOf(request)).body as Json);
  } catch {
    // The handler says what is wrong with it.
    return null;
  }
}

interface ChangeFacts {
  readonly result: Json;
  readonly after: Json;
}

/** A change of the configuration tells its differences itself; other objects are compared. */
function described(entry: AuditEntry, { result, after }: ChangeFacts): AuditEntry {
  const made = isJsonMap(result) ? result : {};
  if (Array.isArray(made.changes) && isJsonMap(made.version)) {
    const words = (made.changes as readonly JsonMap[]).map((change) => change.words ?? null);
    return { ...entry, before: null, after: { version: made.version.number ?? null, changes: words } };
  }
  const { before } = entry;
  if (isJsonMap(before) && isJsonMap(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const changed = names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
    return { ...entry, before: picked(before, changed), after: picked(after, changed) };
  }
  if (before !== null) return { ...entry, after };
  const id = typeof made.id === "string" && !entry.object.includes("/") ? `/${made.id}` : "";
  return { ...entry, object: `${entry.object}${id}`, after: result ?? entry.after };
}

function picked(value: JsonMap, names: readonly string[]): JsonMap {
  return Object.fromEntries(names.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])));
}

type Read = (call: RecordedCall, edge: OperatorContext) => Promise<Json>;

/** Reads the object that a route changes: by the GET of its path or of the path above, else from the list it is in. */
function readerOf({ path }: RecordedRoute, routes: readonly RecordedRoute[]): Read | null {
  const [own] = /^.*\/:\w+/.exec(path) ?? [];
  if (own === undefined) return null;
  // A GET of somebody who signs in is a page of another site, and sends an answer of its own.
  const isRead = ({ method, access }: RecordedRoute): boolean => method === "get" && access !== "anyone";
  const find = (wanted: string) => routes.find((route) => isRead(route) && route.path === wanted);
  const single = find(own);
  if (single !== undefined && "handle" in single)
    return reader(single.handle as Handle<RecordedCall>, (found) => found);
  const list = find(own.slice(0, own.lastIndexOf("/")));
  if (list === undefined || !("handle" in list)) return null;
  return reader(list.handle as Handle<RecordedCall>, (found, { id }) => {
    const rows = isJsonMap(found) && Array.isArray(found.data) ? (found.data as readonly Json[]) : [];
    return rows.find((row) => isJsonMap(row) && row.id === id) ?? null;
  });
}

type Choose = (found: Json, params: Readonly<Record<string, string>>) => Json;

/** The object is read without the query of the change, but for its account. */
function reader(handle: Handle<RecordedCall>, choose: Choose): Read {
  return async (call, edge) => {
    const { account: about } = call.request.query as Readonly<Record<string, string>>;
    const query = { limit: "500", ...(about === undefined ? {} : { account: about }) };
    const request = Object.create(call.request, { query: { value: query } }) as FastifyRequest;
    try {
      const found = withoutSecrets(await handle({ ...call, request }, edge));
      return choose(found, request.params as Readonly<Record<string, string>>);
    } catch {
      return null;
    }
  };
}
