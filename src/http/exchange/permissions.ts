// Permissions of the roles. Every route of /api names one of these permissions; the table in the docs is made of both.

import type { UserRole } from "../../core/people.ts";

/** `isOwn`: of these roles, members reach only what is theirs. */
interface PermissionRow {
  readonly roles: readonly UserRole[];
  readonly isOwn?: true;
}

const ALL: readonly UserRole[] = ["operator", "admin", "billing", "member", "viewer"];

/** In the order of the docs. */
export const PERMISSIONS = {
  /** The installation: all organisations, providers, settings. */
  operator: { roles: ["operator"] },
  /** Changes within an organisation: members, teams, profiles, and requests without a key. */
  manage: { roles: ["operator", "admin"] },
  changeKeys: { roles: ["operator", "admin", "member"], isOwn: true },
  readKeys: { roles: ["operator", "admin", "viewer", "member"], isOwn: true },
  readRequests: { roles: ["operator", "admin", "viewer", "member"], isOwn: true },
  /** Sums of the request log by any dimension. */
  explore: { roles: ["operator", "admin", "billing", "viewer", "member"], isOwn: true },
  readTotals: { roles: ["operator", "admin", "billing", "viewer"] },
  readMoney: { roles: ["operator", "admin", "billing", "viewer"] },
  readRules: { roles: ["operator", "admin", "viewer"] },
  readCatalog: { roles: ALL },
} as const satisfies Readonly<Record<string, PermissionRow>>;

export type Permission = keyof typeof PERMISSIONS;

export function isPermitted(role: UserRole, permission: Permission): boolean {
  const { roles }: PermissionRow = PERMISSIONS[permission];
  return roles.includes(role);
}

export function permissionsOf(role: UserRole): readonly Permission[] {
  return (Object.keys(PERMISSIONS) as Permission[]).filter((permission) => isPermitted(role, permission));
}
