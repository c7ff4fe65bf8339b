// The package has no types of its own. Its one use is in identity-server.ts.

declare module "oidc-provider";
