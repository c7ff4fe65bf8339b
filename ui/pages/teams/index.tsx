// Teams: nested once, each with its keys and people, what it may use, its budgets and what it spent this month.

import { useLoad } from "../../api.ts";
import { exact, plural, usd } from "../../format.ts";
import { useShortcuts } from "../../keyboard.ts";
import { Button } from "../../kit/button.tsx";
import { PageHead } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { type MonthSpend, useMonthSpend } from "../../parts/people/month-spend.ts";
import { hrefTo, place, setQuery } from "../../router.ts";
import { may } from "../../session.ts";
import type { Budget, List, Profile, Team, User } from "../../types.ts";
import { BudgetBar } from "../budgets/bar.tsx";
import { TeamEditor } from "./edit.tsx";
import * as TEXT from "./text.ts";

/** The address opens the dialog: `new` for a new team, `edit` for one that is there. */
export function Teams() {
  const { query } = place.value;
  const teams = useLoad<List<Team>>("/api/teams?limit=500");
  const facts = useFacts();
  const add = (): void => setQuery({ new: "1" });
  const close = (): void => setQuery({ new: null, edit: null }, { replace: true });
  useShortcuts(may("manage") ? { n: add } : {});
  const all = teams.data?.data ?? [];
  const edited = may("manage") ? all.find(({ id }) => id === query.get("edit")) : undefined;
  const create = may("manage") && <Button onClick={add}>{TEXT.createTeam}</Button>;
  return (
    <>
      <PageHead title={TEXT.teams} purpose={TEXT.purpose}>
        {may("manage") && (
          <Button kind="primary" onClick={add}>
            {TEXT.createTeam}
          </Button>
        )}
      </PageHead>
      <Shown load={teams} rows={5}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={TEXT.noTeams} action={create || null}>
              {TEXT.emptyHint}
            </Empty>
          ) : (
            <ul class="cards">
              {inOrder(data.filter(({ parent }) => parent === null)).map((team) => (
                <li class="card" key={team.id}>
                  <TeamFacts team={team} inside={partsOf(team, data)} facts={facts} />
                  {partsOf(team, data).map((part) => (
                    <section class="part" key={part.id}>
                      <TeamFacts team={part} inside={[]} facts={facts} />
                    </section>
                  ))}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      {query.get("new") !== null && may("manage") && <TeamEditor saved={null} teams={all} onClose={close} />}
      {edited !== undefined && <TeamEditor key={edited.id} saved={edited} teams={all} onClose={close} />}
    </>
  );
}

function inOrder(teams: readonly Team[]): readonly Team[] {
  return [...teams].sort((a, b) => a.name.localeCompare(b.name));
}

function partsOf({ id }: Team, all: readonly Team[]): readonly Team[] {
  return inOrder(all.filter(({ parent }) => parent === id));
}

/** Things about teams that other calls tell. Roles that may not ask see the page without them. */
interface OtherFacts {
  readonly profiles: readonly Profile[];
  /** Is null where the user may not see people. */
  readonly people: readonly User[] | null;
  readonly budgets: readonly Budget[];
  readonly spend: MonthSpend;
}

function useFacts(): OtherFacts {
  const profiles = useLoad<List<Profile>>(may("readRules") ? "/api/profiles?limit=500" : null).data?.data ?? [];
  const people = useLoad<List<User>>(may("manage") ? "/api/users?limit=500" : null).data?.data ?? null;
  const budgets = useLoad<List<Budget>>(may("readMoney") ? "/api/budgets?limit=200" : null).data?.data ?? [];
  return { profiles, people, budgets, spend: useMonthSpend("team") };
}

interface TeamFactsProps {
  readonly team: Team;
  readonly inside: readonly Team[];
  readonly facts: OtherFacts;
}

/** Spending of a team is its own and that of the teams inside. */
function TeamFacts({ team, inside, facts }: TeamFactsProps) {
  const { id, name, activeKeys } = team;
  const members = facts.people?.filter(({ teams }) => teams.includes(id)) ?? null;
  const spent = facts.spend([id, ...inside.map((part) => part.id)]);
  const Heading = team.parent === null ? "h2" : "h3";
  return (
    <>
      <div class="head-row">
        <Heading class="grow">{name}</Heading>
        {may("manage") && (
          <Button kind="quiet" label={TEXT.editNamed(name)} onClick={() => setQuery({ edit: id })}>
            {TEXT.edit}
          </Button>
        )}
      </div>
      <ul class="chips">
        {chipsOf(team, facts).map((chip) => (
          <li key={chip} class="chip">
            {chip}
          </li>
        ))}
      </ul>
      <p class="row wrap faint">
        {may("readKeys") ? (
          <a href={hrefTo("/keys", { team: id })}>{plural(activeKeys, "key")}</a>
        ) : (
          <span>{plural(activeKeys, "key")}</span>
        )}
        {members !== null && <a href={hrefTo("/members", { team: id })}>{plural(members.length, "member")}</a>}
        {spent !== null && (
          <a href={hrefTo("/requests", { team: id, range: "30d", from: null, to: null })} title={exact(spent)}>
            {TEXT.spentThisMonth(usd(spent))}
          </a>
        )}
      </p>
      {budgetsOf(team, facts).map(({ budget, standing }) => (
        <div key={budget.id}>
          <p>{budget.name}</p>
          <BudgetBar budget={budget} standing={standing} name={`${budget.name}, ${name}`} />
        </div>
      ))}
    </>
  );
}

function chipsOf(team: Team, { profiles }: OtherFacts): readonly string[] {
  const { profile, allowedModels, tierCeiling } = team;
  const chips = [
    ...(profile === null ? [] : [TEXT.profileNamed(profiles.find(({ id }) => id === profile)?.name ?? profile)]),
    ...(allowedModels === null ? [] : [plural(allowedModels.length, "model")]),
    ...(tierCeiling === null ? [] : [TEXT.upTo(tierCeiling)]),
  ];
  return chips.length === 0 ? [TEXT.noBounds] : chips;
}

/** Budgets of this team alone, and its part of those that count each team. */
function budgetsOf({ id }: Team, { budgets }: OtherFacts) {
  return budgets.flatMap((budget) => {
    if (budget.scope !== "team") return [];
    const standing = budget.each
      ? budget.values.find(({ value }) => value === id)
      : budget.value === id
        ? budget.standing
        : null;
    return standing == null ? [] : [{ budget, standing }];
  });
}
