// What a browser does for the dashboard, without one: it keeps its cookies and says which page asks.

import { keepingContract } from "./contract.ts";
import type { TestGateway } from "./gateway.ts";

export const PASSWORD = "violet anchor teapot 42";

export interface Person {
  /** The value of the session cookie; null when signed out. */
  readonly cookie: string | null;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

export function visit({ url }: Pick<TestGateway, "url">, cookie: string | null = null): Person {
  let kept = cookie;
  let device: string | null = null;
  const cookies = (): string =>
    [kept === null ? [] : [`switchyard_session=${kept}`], device === null ? [] : [`switchyard_device=${device}`]]
      .flat()
      .join("; ");
  return {
    get cookie() {
      return kept;
    },
    async call(method, path, body, headers = {}) {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: {
          "sec-fetch-site": "same-origin",
          ...(cookies() === "" ? {} : { cookie: cookies() }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      for (const set of answer.headers.getSetCookie()) {
        const [, name, value = ""] = /^(\w+)=([^;]*)/.exec(set) ?? [];
        if (name === "switchyard_session") kept = value === "" ? null : value;
        if (name === "switchyard_device") device = value;
      }
      return keepingContract(method, path, answer);
    },
  };
}

export function setupTokenOf({ setupLink }: Pick<TestGateway, "setupLink">): string {
  return tokenIn(setupLink ?? "");
}

export function tokenIn(link: string): string {
  return new URLSearchParams(link.split("?")[1]).get("token") ?? "";
}

/** The first operator, signed in. */
export async function setUpOperator(gateway: TestGateway, email = "operator@example.com"): Promise<Person> {
  const person = visit(gateway);
  const body = { token: setupTokenOf(gateway), email, password: PASSWORD };
  await expectStatus(await person.call("POST", "/api/setup", body), 201);
  return person;
}

export interface Invited {
  readonly email: string;
  readonly role?: "operator" | "owner" | "admin" | "billing" | "member" | "viewer";
  readonly teams?: readonly string[];
  readonly accountId?: string;
}

/** Somebody who was invited with the admin token and has accepted. */
export async function join(gateway: TestGateway, invited: Invited): Promise<Person> {
  const made = await gateway.api("POST", "/api/invitations", invited);
  const { link } = (await made.json()) as { link: string };
  const person = visit(gateway);
  const body = { token: tokenIn(link), password: PASSWORD };
  await expectStatus(await person.call("POST", "/api/invitations/accept", body), 201);
  return person;
}

export async function signIn(gateway: TestGateway, email: string, password = PASSWORD): Promise<Person> {
  const person = visit(gateway);
  await expectStatus(await person.call("POST", "/api/session", { email, password }), 204);
  return person;
}

async function expectStatus(answer: Response, status: number): Promise<void> {
  if (answer.status !== status) throw new Error(`answered ${answer.status}, not ${status}: ${await answer.text()}`);
}
