// The schemas of sessions, users, invitations and settings.

import { USER_ROLES } from "../../core/people.ts";
import { nullable, object, text, time } from "./schema.ts";

const role = { type: "string", enum: USER_ROLES };
const flag = { type: "boolean" };
const password = { type: "string", minLength: 12, maxLength: 1024, format: "password" };
const self = object({ id: text, email: text, role, accountId: text });
const invitation = { id: text, email: text, role, accountId: text, createdAt: time, expiresAt: time };

export const PEOPLE_SCHEMAS: Readonly<Record<string, object>> = {
  Session: object({ user: nullable(self), setupNeeded: flag, sandbox: flag, version: text }),
  Credentials: strict({ email: text, password: text }),
  PasswordChange: strict({ current: text, next: password }),
  SetUp: strict({ token: text, email: text, password }),
  Acceptance: strict({ token: text, password }),
  ResetLink: object({ email: text, link: text, expiresAt: time }),
  Welcome: object({ user: self }),
  NewInvitation: { ...strict({ email: text, role, accountId: text }), required: ["email"] },
  Invitation: object(invitation),
  CreatedInvitation: object({ ...invitation, link: text }),
  User: object({ id: text, email: text, role, accountId: text, createdAt: time, lastSignInAt: nullable(time) }),
  Settings: object({
    version: text,
    node: text,
    store: { type: "string", enum: ["sqlite", "postgres"] },
    startedAt: time,
    sandbox: flag,
    baselineModel: text,
    markup: { type: "number" },
    options: { type: "array", items: { $ref: "#/components/schemas/Option" } },
    providers: { type: "array", items: object({ id: text, kind: text, baseUrl: text, hasKey: flag }) },
  }),
  Option: object({
    name: text,
    path: nullable(text),
    env: nullable(text),
    flag: nullable(text),
    value: { ...nullable(text), description: "Null for a secret." },
    isSecret: flag,
    isSet: flag,
    origin: { type: "string", enum: ["default", "file", "environment", "flag"] },
    place: nullable(text),
    help: text,
  }),
};

function strict(properties: Readonly<Record<string, object>>): object {
  return { ...object(properties), additionalProperties: false };
}
