// A real identity provider on loopback. It signs everybody in at once as the person that the test names, so a browser
// only passes through.

import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import Provider from "oidc-provider";

export const CLIENT = { client_id: "switchyard", client_secret: "the-secret-of-the-client" };

export interface IdentityServer {
  readonly issuer: string;
  /** Opens it once the addresses of the gateway are known. */
  open(gatewayUrl: string, providerId?: string): Promise<void>;
  /** Who signs in next, and the claims about them. */
  person: { subject: string; claims: Record<string, unknown> };
  /** Signs with new keys from now on; the old ones are gone. */
  rotate(): Promise<void>;
  /** While true, every connection breaks. */
  isDown: boolean;
  /** How many of the next connections break. */
  breaks: number;
  /** While false, the second request of a connection breaks it. */
  keepsConnections: boolean;
  /** Paths that were asked for. */
  readonly asked: string[];
  /** A token of this issuer; `header` and `claims` outweigh what is usual. */
  token(claims?: JWTPayload, header?: Record<string, string>): Promise<string>;
  /** The newest public key, as PEM: what a forger knows. */
  publicPem(): string;
  close(): Promise<void>;
}

export async function startIdentityServer(extra: object = {}): Promise<IdentityServer> {
  let listener: RequestListener = (_request, response) => response.writeHead(503).end();
  const used = new WeakSet<object>();
  const server = createServer((request, response) => {
    const isBroken = !self.keepsConnections && used.has(request.socket);
    used.add(request.socket);
    if (self.isDown || isBroken || self.breaks > 0) {
      self.breaks -= 1;
      request.socket.destroy();
    } else {
      self.asked.push(String(request.url).split("?")[0] as string);
      listener(request, response);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let keys = await makeKeys();
  let opened: readonly [string, string] = ["", ""];
  const reopen = (): void => {
    listener = listenerOf({ issuer, keys, opened, extra, self });
  };
  const self: IdentityServer = {
    issuer,
    person: { subject: "ada", claims: { email: "ada@example.com", email_verified: true } },
    isDown: false,
    breaks: 0,
    keepsConnections: true,
    asked: [],
    async open(gatewayUrl, providerId = "idp") {
      opened = [gatewayUrl, providerId];
      reopen();
    },
    async rotate() {
      keys = await makeKeys();
      reopen();
    },
    publicPem: () => keys.pem,
    async token(claims = {}, header = {}) {
      const usual = { iss: issuer, aud: "switchyard-api", sub: self.person.subject, ...self.person.claims };
      const seconds = Math.floor(Date.now() / 1000);
      return new SignJWT({ iat: seconds, exp: seconds + 600, ...usual, ...claims })
        .setProtectedHeader({ alg: "RS256", kid: keys.kid, ...header })
        .sign(keys.privateKey);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return self;
}

let made = 0;

async function makeKeys() {
  made += 1;
  const kid = `key-${made}`;
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" };
  const der = Buffer.from(await crypto.subtle.exportKey("spki", publicKey)).toString("base64");
  return { kid, privateKey, jwk, pem: `-----BEGIN PUBLIC KEY-----\n${der}\n-----END PUBLIC KEY-----\n` };
}

interface Opening {
  readonly issuer: string;
  readonly keys: { readonly jwk: object };
  readonly opened: readonly [gatewayUrl: string, providerId: string];
  readonly extra: object;
  readonly self: Pick<IdentityServer, "person">;
}

const SCOPES = "openid email profile groups offline_access";

function listenerOf({ issuer, keys, opened, extra, self }: Opening): RequestListener {
  const [gatewayUrl, providerId] = opened;
  const provider: OidcProvider = new Provider(issuer, {
    jwks: { keys: [keys.jwk] },
    cookies: { keys: ["cookies of the identity server"] },
    scopes: SCOPES.split(" "),
    claims: {
      openid: ["sub", "groups", "_claim_names", "_claim_sources"],
      email: ["email", "email_verified"],
      profile: ["name"],
    },
    clients: [
      {
        ...CLIENT,
        token_endpoint_auth_method: "client_secret_post",
        redirect_uris: [`${gatewayUrl}/api/sign-in/${providerId}/callback`],
        post_logout_redirect_uris: [`${gatewayUrl}/`],
      },
      {
        client_id: "switchyard-cli",
        token_endpoint_auth_method: "none",
        redirect_uris: [],
        response_types: [],
        grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
        application_type: "native",
      },
    ],
    features: { devInteractions: { enabled: false }, deviceFlow: { enabled: true } },
    conformIdTokenClaims: false,
    ttl: { AccessToken: 600, IdToken: 600, Session: 3600, Interaction: 600, Grant: 3600, DeviceCode: 600 },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, ...self.person.claims }),
    }),
    async loadExistingGrant({ oidc }: GrantContext) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope(SCOPES);
      await grant.save();
      return grant;
    },
    ...extra,
  });
  const callback = provider.callback();
  return (request, response) => {
    if (!request.url?.startsWith("/interaction/")) return callback(request, response);
    // Native clients ask for consent each time.
    const result = { login: { accountId: self.person.subject, remember: false }, consent: {} };
    provider.interactionFinished(request, response, result).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  };
}

/** The parts of oidc-provider that are used here. */
interface OidcProvider {
  callback(): RequestListener;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
}

/** What the server hands to `loadExistingGrant`. */
interface GrantContext {
  readonly oidc: {
    readonly provider: { readonly Grant: new (given: object) => Grant };
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
  };
}

interface Grant {
  addOIDCScope(scopes: string): void;
  save(): Promise<string>;
}
