// Client secrets: keys for browsers, which open sessions of one model for a short time. A secret is sealed by the gateway,
// so nothing is stored; what it stands for is the key that made it, which ends it when it is revoked.

import { randomBytes } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { GatewayError } from "../../../core/errors.ts";
import {
  invalid,
  isObject,
  type JsonObject,
  readChoice,
  readInteger,
  readString,
} from "../../../formats/json/fields.ts";
import { REALTIME_PATH } from "../../../formats/realtime/format.ts";
import { decideSession } from "../../../gateway/realtime/turn.ts";
import type { CallContext } from "../../context.ts";
import { parsedBodyOf } from "../../exchange/body.ts";
import * as TEXT from "../../text.ts";
import { callerOf } from "../key-admission.ts";

export const SECRET_PREFIX = "ek_";
export const CLIENT_SECRETS_PATH = `${REALTIME_PATH}/client_secrets`;
export const SECONDS = { usual: 600, min: 10, max: 7_200 };
/** Browsers send a secret in a header, which is no place for long instructions. */
const SECRET_CHARS_MAX = 6_000;
const ABOUT = "realtime";
/** A browser asks for a secret while its sessions run. */
const NO_SLOT = { config: { needsNoSlot: true } };

export interface OpenedSecret {
  readonly keyHash: string;
  readonly model: string;
  /** Set up for each session that is opened with the secret; absent for none. */
  readonly session?: JsonObject;
  readonly expiresAtMs: number;
}

type SecretsContext = Pick<CallContext, "state" | "services" | "now">;

export function registerRealtime(server: FastifyInstance, edge: SecretsContext): void {
  server.get(REALTIME_PATH, NO_SLOT, async () => {
    throw new GatewayError("badRequest", TEXT.webSocketRequired, { code: "websocket_required" });
  });
  server.post(CLIENT_SECRETS_PATH, NO_SLOT, async (request): Promise<JsonObject> => {
    const { body } = await parsedBodyOf(request);
    const caller = callerOf(request);
    const session = readSession(body);
    const model = readString(session, "model");
    const { model: known } = decideSession({ caller, model }, edge.services());
    const seconds = readSeconds(body);
    const expiresAtMs = edge.now() + seconds * 1000;
    const { model: _model, ...rest } = session;
    const isBare = Object.keys(rest).every((name) => name === "type");
    const opened = { keyHash: caller.key.hash, model: known, expiresAtMs, ...(isBare ? {} : { session: rest }) };
    const value = SECRET_PREFIX + (await edge.state.clientSecrets.seal(JSON.stringify(opened), ABOUT));
    if (value.length > SECRET_CHARS_MAX) throw invalid("session", TEXT.secretTooLong);
    const expiresAt = Math.floor(expiresAtMs / 1000);
    const id = `sess_${randomBytes(12).toString("hex")}`;
    const written = { ...rest, type: "realtime", object: "realtime.session", id, model: known, expires_at: 0 };
    return { value, expires_at: expiresAt, session: written };
  });
}

function readSession(body: JsonObject): JsonObject {
  const session = body.session ?? {};
  if (!isObject(session)) throw invalid("session", TEXT.sessionObject);
  readChoice(session, "type", ["realtime"]);
  return session;
}

function readSeconds(body: JsonObject): number {
  const after = body.expires_after ?? {};
  if (!isObject(after)) throw invalid("expires_after", TEXT.expiresAfterObject);
  readChoice(after, "anchor", ["created_at"]);
  return readInteger(after, "seconds", SECONDS) ?? SECONDS.usual;
}

/** Throws one and the same error for every secret that opens nothing. */
export async function openSecret(text: string, { state, now }: SecretsContext): Promise<OpenedSecret> {
  const sealed = text.slice(SECRET_PREFIX.length);
  const opened: OpenedSecret | null = await state.clientSecrets.open(sealed, ABOUT).then(JSON.parse, () => null);
  if (opened !== null && opened.expiresAtMs > now()) return opened;
  throw new GatewayError("unauthenticated", TEXT.invalidSecret, { code: "invalid_client_secret" });
}
