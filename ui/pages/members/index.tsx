// Members: the people of the organisation, with their roles, teams, keys and what they spent this month.

import { useState } from "preact/hooks";
import { useLoad } from "../../api.ts";
import { ago, exact, usd, utc } from "../../format.ts";
import { useShortcuts } from "../../keyboard.ts";
import { Button, ButtonLink } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { PageHead } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { numberHead, Table } from "../../kit/table.tsx";
import { type MonthSpend, useMonthSpend } from "../../parts/people/month-spend.ts";
import { hrefTo, hrefWith, place, setQuery } from "../../router.ts";
import { session, shownAccount } from "../../session.ts";
import type { Invitation, List, Team, User } from "../../types.ts";
import { InvitationItem, InviteForm, ResetDialog, ROLE_NAMES } from "../settings/access.tsx";
import { MemberEditor } from "./edit.tsx";
import * as TEXT from "./text.ts";

/** Operators read the people of all organisations, and see those of the one that they look at. */
function isShown({ accountId }: { readonly accountId: string }): boolean {
  return accountId === shownAccount();
}

/** `team` in the address shows one team. */
export function Members() {
  const users = useLoad<List<User>>("/api/users?limit=500");
  const invited = useLoad<List<Invitation>>("/api/invitations?limit=500").data?.data ?? [];
  const teams = useLoad<List<Team>>("/api/teams?limit=500").data?.data ?? [];
  const spend = useMonthSpend("member");
  const [editing, setEditing] = useState<User | null>(null);
  const [resetting, setResetting] = useState<User | null>(null);
  const invite = (): void => setQuery({ new: "1" });
  const closeInvite = (): void => setQuery({ new: null }, { replace: true });
  useShortcuts({ n: invite });
  const team = place.value.query.get("team");
  const isIn = ({ teams: ids }: { readonly teams: readonly string[] }): boolean => team === null || ids.includes(team);
  const pending = invited.filter((one) => isShown(one) && isIn(one));
  return (
    <>
      <PageHead title={TEXT.members} purpose={TEXT.purpose}>
        <Button kind="primary" onClick={invite}>
          {TEXT.invite}
        </Button>
        {team !== null && (
          <ButtonLink href={hrefWith({ team: null })}>
            {TEXT.allMembers(teams.find(({ id }) => id === team)?.name ?? team)}
          </ButtonLink>
        )}
      </PageHead>
      <Shown load={users} rows={5}>
        {({ data }) => {
          const shown = data.filter((user) => isShown(user) && isIn(user));
          if (shown.length === 0) return <Empty title={TEXT.noMembers} />;
          return <MemberTable users={shown} teams={teams} spend={spend} onEdit={setEditing} onReset={setResetting} />;
        }}
      </Shown>
      {pending.length > 0 && (
        <section class="card">
          <h2>{TEXT.invited}</h2>
          <ul class="plain-list people">
            {pending.map((invitation) => (
              <InvitationItem key={invitation.id} invitation={invitation} />
            ))}
          </ul>
        </section>
      )}
      {place.value.query.get("new") !== null && (
        <Dialog title={TEXT.invite} onClose={closeInvite}>
          <InviteForm
            teams={teams}
            onKnown={(email) => {
              closeInvite();
              setResetting(users.data?.data.find((user) => user.email === email) ?? null);
            }}
          />
        </Dialog>
      )}
      {editing !== null && <MemberEditor user={editing} teams={teams} onClose={() => setEditing(null)} />}
      {resetting !== null && <ResetDialog user={resetting} onClose={() => setResetting(null)} />}
    </>
  );
}

interface MemberTableProps {
  readonly users: readonly User[];
  readonly teams: readonly Team[];
  readonly spend: MonthSpend;
  readonly onEdit: (user: User) => void;
  readonly onReset: (user: User) => void;
}

/** Nobody can lock themselves out: your own row has no buttons. */
function MemberTable({ users, teams, spend, onEdit, onReset }: MemberTableProps) {
  const nameOf = (id: string): string => teams.find((team) => team.id === id)?.name ?? id;
  const heads = [TEXT.member, TEXT.role, TEXT.teams, TEXT.lastSignIn, TEXT.keys, numberHead(TEXT.thisMonth)];
  return (
    <Table caption={TEXT.members} heads={[...heads, numberHead(TEXT.actions)]}>
      {users.map((user) => (
        <tr key={user.id}>
          <th scope="row" class="cut" title={user.email}>
            {user.email}
          </th>
          <td>{user.deactivatedAt === null ? ROLE_NAMES[user.role] : TEXT.deactivated}</td>
          <td class="cut" data-cell="teams" title={user.teams.map(nameOf).join(", ")}>
            {user.teams.map(nameOf).join(", ") || "–"}
          </td>
          <td data-cell="seen" title={utc(user.lastSignInAt)}>
            {ago(user.lastSignInAt)}
          </td>
          <td>
            <a href={hrefTo("/keys", { member: user.id })}>{TEXT.showKeys}</a>
          </td>
          <Spent user={user} spend={spend} />
          <td class="actions">
            {user.id !== session.value?.user?.id && (
              <>
                <Button kind="quiet" label={TEXT.editNamed(user.email)} onClick={() => onEdit(user)}>
                  {TEXT.edit}
                </Button>
                <Button kind="quiet" label={TEXT.resetNamed(user.email)} onClick={() => onReset(user)}>
                  {TEXT.reset}
                </Button>
              </>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Spent({ user: { id }, spend }: { readonly user: User; readonly spend: MonthSpend }) {
  const spent = spend([id]);
  const href = hrefTo("/requests", { member: id, range: "30d", from: null, to: null });
  return (
    <td class="number">
      {spent === null ? (
        "–"
      ) : (
        <a href={href} title={exact(spent)}>
          {usd(spent)}
        </a>
      )}
    </td>
  );
}
