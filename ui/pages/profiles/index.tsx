// Profiles: saved rules that a key puts on its requests. The list, and the way to the editor.

import { useRef, useState } from "preact/hooks";
import { PROFILE_CONTROLS } from "../../../src/core/requests/controls.ts";
import { useLoad } from "../../api.ts";
import { ago, exact, percent, plural, usd, utc } from "../../format.ts";
import { useShortcuts } from "../../keyboard.ts";
import { ButtonLink } from "../../kit/button.tsx";
import { PageHead } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { readFragment } from "../../parts/playground-draft.ts";
import { chipsOf } from "../../parts/profile-rules.ts";
import { savedAgainst } from "../../parts/text.ts";
import { go, hrefTo, isUnsaved, place } from "../../router.ts";
import type { List, ListedProfile, Profile, Rules, Usage } from "../../types.ts";
import { sum } from "../../usage.ts";
import { ProfileEditor } from "./editor.tsx";
import * as TEXT from "./text.ts";

/** A profile that allows everything. */
const NO_RULES = Object.fromEntries(PROFILE_CONTROLS.map(({ rule, takes }) => [rule, takes.unset])) as unknown as Rules;

/** `/profiles/new` is the editor of a new one, any other id that of a saved one. */
export function Profiles() {
  const id = place.value.path.split("/")[2] ?? "";
  if (id === "new") return <NewProfile />;
  return id === "" ? <ProfileList /> : <SavedProfile id={id} />;
}

function ProfileList() {
  const profiles = useLoad<List<ListedProfile>>("/api/profiles?limit=500");
  const usage = useLoad<List<Usage>>("/api/usage?by=total&latency=false&from=-30d").data?.data ?? [];
  useShortcuts({ n: () => go(hrefTo("/profiles/new")) });
  return (
    <>
      <PageHead title={TEXT.profiles} purpose={TEXT.purpose}>
        <ButtonLink kind="primary" href={hrefTo("/profiles/new")}>
          {TEXT.createProfile}
        </ButtonLink>
      </PageHead>
      <Shown load={profiles} rows={5}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty
              title={TEXT.noProfiles}
              action={<ButtonLink href={hrefTo("/profiles/new")}>{TEXT.createProfile}</ButtonLink>}
            >
              {TEXT.emptyHint}
            </Empty>
          ) : (
            <ul class="cards">
              {data.map((profile) => (
                <ProfileCard key={profile.id} profile={profile} all={sum(usage, (row) => row.requests)} />
              ))}
            </ul>
          )
        }
      </Shown>
    </>
  );
}

interface CardProps {
  readonly profile: ListedProfile;
  /** Number of requests under all profiles, for the share of this one. */
  readonly all: number;
}

/** Shows rules, keys, and the usage of a profile in 30 days. */
function ProfileCard({ profile, all }: CardProps) {
  const { activeKeys, last30Days } = profile;
  const { requests } = last30Days;
  const [cost, saved] = [Number(last30Days.chargeUsd), Number(last30Days.savedUsd)];
  return (
    <li class="card">
      <h2>
        <a href={hrefTo(`/profiles/${profile.id}`)}>{profile.name}</a>
      </h2>
      {profile.description !== null && <p>{profile.description}</p>}
      <ul class="chips">
        {chipsOf(profile).map((chip) => (
          <li key={chip} class="chip">
            {chip}
          </li>
        ))}
      </ul>
      <p class="faint">
        <a href={hrefTo("/keys", { profile: profile.id })}>{plural(activeKeys, "key")}</a> {TEXT.edited}{" "}
        <time title={utc(profile.updatedAt)}>{ago(profile.updatedAt)}</time>
      </p>
      {requests > 0 && (
        <p class="faint">
          {TEXT.last30Days}{" "}
          <a href={hrefTo("/requests", { keyProfile: profile.id, range: "30d", from: null, to: null })}>
            {TEXT.ofTraffic(percent(requests / (all || requests)))}
          </a>
          <span title={savedAgainst(exact(last30Days.savedUsd), last30Days)}>
            {TEXT.spentAndSaved(usd(cost), percent(saved / (cost + saved || 1)))}
          </span>
        </p>
      )}
    </li>
  );
}

/** Opens the editor with rules from the fragment, where the playground put some. */
function NewProfile() {
  const [start] = useState<Rules>(() => ({
    ...NO_RULES,
    ...(readFragment(place.value.hash) as Partial<Rules> | null),
  }));
  return <ProfileEditor saved={null} start={{ name: "", description: null, ...start }} />;
}

/** The key restarts the editor when the profile was changed meanwhile, unless that would lose edits. */
function SavedProfile({ id }: { readonly id: string }) {
  const load = useLoad<Profile>(`/api/profiles/${encodeURIComponent(id)}`);
  const version = useRef("");
  return (
    <Shown load={load} rows={10}>
      {(profile) => {
        const { id: _id, shadow: _shadow, createdAt: _created, updatedAt, ...content } = profile;
        if (!isUnsaved.value) version.current = updatedAt;
        return <ProfileEditor key={version.current} saved={profile} start={content} />;
      }}
    </Shown>
  );
}
