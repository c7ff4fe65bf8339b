// Names of teams and addresses of members by their ids, for filters and forms. Only those who manage people read these.

import { useLoad } from "../../api.ts";
import { may, shownAccount } from "../../session.ts";
import type { List, Team, User } from "../../types.ts";

/** By the name of the filter that takes the ids. */
export type GroupNames = ReadonlyMap<string, ReadonlyMap<string, string>>;

export function useGroupNames(): GroupNames {
  const teams = useLoad<List<Team>>("/api/teams?limit=500").data?.data ?? [];
  const users = useLoad<List<User>>(may("manage") ? "/api/users?limit=500" : null).data?.data ?? [];
  const own = users.filter(({ accountId }) => accountId === shownAccount());
  return new Map([
    ["team", new Map(teams.map(({ id, name }) => [id, name]))],
    ["member", new Map(own.map(({ id, email }) => [id, email]))],
  ]);
}
