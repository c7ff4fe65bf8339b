// @ts-check
// Renders the table of routes and roles of docs/operate/roles.md from the routes and their permissions.

import { tableOf } from "../setup/generated.mjs";

/** @param {string} _root @param {import("../docs.mjs").Load} load */
export async function render(_root, load) {
  const { USER_ROLES } = await load("core/people.ts");
  const { PERMISSIONS, isPermitted } = await load("http/exchange/permissions.ts");
  const { apiRoutes } = await load("http/api/routes.ts");
  /** @type {readonly { method: string, path: string, access?: string }[]} */
  const routes = apiRoutes();
  const rows = routes
    .filter(({ access = "manage" }) => access in PERMISSIONS)
    .map(({ method, path, access = "manage" }) => [
      `\`${method.toUpperCase()} ${path}\``,
      .../** @type {readonly string[]} */ (USER_ROLES).map((role) => {
        if (!isPermitted(role, access)) return "";
        return role === "member" && PERMISSIONS[access].isOwn ? "own" : "yes";
      }),
    ]);
  return [{ path: "docs/operate/roles.md", block: "roles", text: tableOf(["route", ...USER_ROLES], rows) }];
}
