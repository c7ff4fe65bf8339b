// The contract of realtime sessions: the WebSocket itself, and client secrets for browsers.

import { Type } from "typebox";
import { REALTIME_PATH } from "../../../formats/realtime/format.ts";
import { json, type Operation, query } from "../../openapi/operation.ts";
import { AnyObject, AnyText, Integer, named, optional } from "../../openapi/schema.ts";
import { v1 } from "../contract.ts";
import { CLIENT_SECRETS_PATH, SECONDS } from "./secrets.ts";

const open = { additionalProperties: true };

const SessionSchema = named(
  "RealtimeSession",
  { type: optional(Type.Literal("realtime")), model: AnyText, instructions: optional(AnyText) },
  open,
);

const ClientSecretRequestSchema = named(
  "ClientSecretRequest",
  {
    session: SessionSchema,
    expires_after: optional(
      Type.Object({
        anchor: optional(Type.Literal("created_at")),
        seconds: optional(Type.Integer({ minimum: SECONDS.min, maximum: SECONDS.max })),
      }),
    ),
  },
  open,
);

const ClientSecretSchema = named("ClientSecret", { value: AnyText, expires_at: Integer, session: AnyObject });

export const REALTIME_OPERATIONS: readonly Operation[] = [
  {
    ...v1("openRealtimeSession", "get", REALTIME_PATH, {
      summary: "A realtime session over WebSocket with the model that is named",
      parameters: [query("model", AnyText, "A model with the capability `realtime`.")],
      response: {},
      errors: [402, 403, 404],
    }),
    status: 101,
    response: null,
  },
  v1("createClientSecret", "post", CLIENT_SECRETS_PATH, {
    summary: "A key for a browser, which opens realtime sessions of one model for a short time; free",
    body: json(ClientSecretRequestSchema, { session: { type: "realtime", model: "gpt-realtime-2.1" } }),
    response: json(ClientSecretSchema),
    errors: [404],
  }),
];
