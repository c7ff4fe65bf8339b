// Facts about a key, in its row and on its own page: status, limits and profile.

import { ago, utc } from "../../format.ts";
import { hrefTo } from "../../router.ts";
import type { Key, ListedKey } from "../../types.ts";
import { isSpent, spentText } from "./spend.tsx";
import * as TEXT from "./text.ts";

/** Shows the status in words and colour. The title has the time at which the key ended or will end. */
export function KeyStatus({ row }: { readonly row: Key }) {
  return (
    <span class={`status ${row.status === "active" ? "good" : "bad"}`} title={utc(row.revokedAt ?? row.expiresAt)}>
      {row.status}
    </span>
  );
}

/** Limits, expiry and age in one line; what is spent in another, red when the limit is reached. */
export function KeyLimits({ row }: { readonly row: Key }) {
  const limits = [
    row.requestsPerMinute === null ? null : `${row.requestsPerMinute}/min`,
    row.expiresAt === null || row.status !== "active" ? null : TEXT.expiresWhen(ago(row.expiresAt)),
    TEXT.createdWhen(ago(row.createdAt)),
  ].filter((limit) => limit !== null);
  const spent = spentText(row);
  return (
    <>
      <small class="faint block" title={utc(row.createdAt)}>
        {limits.join(" · ")}
      </small>
      {spent !== null && (
        <small class={`block ${isSpent(row) ? "bad" : "faint"}`} title={utc(row.spendResetsAt)}>
          {spent}
        </small>
      )}
    </>
  );
}

/** The profile as a link; none; or one that was deleted, which makes every call fail. */
export function ProfileName({ row }: { readonly row: ListedKey }) {
  if (row.profile === null) return <span class="faint">{TEXT.none}</span>;
  if (row.profileName === null) {
    return (
      <span class="bad" title={TEXT.deletedProfileHint}>
        {TEXT.deletedProfile}
      </span>
    );
  }
  return (
    <a href={hrefTo(`/profiles/${row.profile}`)}>
      <bdi>{row.profileName}</bdi>
    </a>
  );
}
