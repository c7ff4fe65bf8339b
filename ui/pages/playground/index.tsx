// Type a prompt and see where it would go and why, as you type. No provider is called until you say so.

import { useEffect, useRef, useState } from "preact/hooks";
import { useLoad } from "../../api.ts";
import { Button, ButtonLink } from "../../kit/button.tsx";
import { writeCli } from "../../kit/cli-text.ts";
import { copyText } from "../../kit/copy.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { PageHead } from "../../kit/page.tsx";
import { Snippets } from "../../kit/snippets.tsx";
import { tell } from "../../kit/toast.tsx";
import { hrefTo, place } from "../../router.ts";
import type { List, Profile } from "../../types.ts";
import { useDecision } from "./ask.ts";
import { Compare } from "./compare.tsx";
import { Controls, Examples, Prompt } from "./form.tsx";
import { Outcome } from "./outcome.tsx";
import { Run } from "./run.tsx";
import { type Bench, benchFragment, benchFrom, chatBodyOf, rulesOf, writeFragment } from "./state.ts";

export function Playground() {
  const [bench, setBench] = useBench();
  const [isCopying, setCopying] = useState(false);
  const profiles = useLoad<List<Profile>>("/api/profiles?limit=200").data?.data ?? [];
  const first = useDecision(bench);
  const isComparing = bench.others.length > 0;
  const set = (change: Partial<Bench>): void => setBench({ ...bench, ...change });
  const share = async (): Promise<void> => {
    tell(
      (await copyText(location.href)) ? "Link copied. It holds everything; nothing is stored." : "Copy the address.",
    );
  };
  return (
    <>
      <PageHead title="Playground" purpose="Where would this go, and why? No provider called, no credits used.">
        <Button
          isPressed={isComparing}
          onClick={() => set({ others: isComparing ? [] : [firstOther(bench, profiles)] })}
        >
          Compare
        </Button>
        <Button onClick={() => setCopying(true)}>Copy as…</Button>
        <Button onClick={share}>Share</Button>
        <ButtonLink href={`${hrefTo("/profiles/new")}${writeFragment(rulesOf(bench))}`}>Save as profile</ButtonLink>
      </PageHead>
      {bench.from !== null && bench.prompt === "" && (
        <p class="notice">
          Opened from request <a href={hrefTo(`/requests/${bench.from}`)}>{bench.from}</a>. Its prompt was not kept, so
          type one.
        </p>
      )}
      <div class={isComparing ? "bench comparing" : "bench"}>
        <div class="bench-form">
          <Prompt bench={bench} set={set} />
          <Examples set={set} />
          <Controls bench={bench} set={set} profiles={profiles} />
        </div>
        <div class="bench-out">
          {isComparing ? (
            <Compare bench={bench} first={first} profiles={profiles} set={set} />
          ) : (
            <>
              <Outcome title="Decision" asked={first} />
              <Run bench={bench} estimateUsd={first.answer?.estimate.costUsd ?? null} />
            </>
          )}
        </div>
      </div>
      {isCopying && (
        <Dialog title="Copy as" onClose={() => setCopying(false)} isWide>
          <Snippets
            label="This request"
            call={{ key: null, body: chatBodyOf(bench) }}
            cli={writeCli(chatBodyOf(bench), {
              profile: bench.profileId || null,
              account: place.value.query.get("account"),
            })}
          />
        </Dialog>
      )}
    </>
  );
}

/** Something else than what is set already. */
function firstOther({ profileId }: Bench, profiles: readonly Profile[]): string {
  if (profileId !== "") return "profile:";
  return profiles[0] === undefined ? "tier:COMPLEX" : `profile:${profiles[0].id}`;
}

/** The bench lives in the fragment: a reload, a bookmark and Back find it again. */
function useBench() {
  const [bench, setBench] = useState<Bench>(() => benchFrom(place.value.hash));
  const written = useRef(place.value.hash);
  const { hash, path, query } = place.value;
  useEffect(() => {
    if (hash === written.current) return;
    written.current = hash;
    setBench(benchFrom(hash));
  }, [hash]);
  useEffect(() => {
    const next = benchFragment(bench);
    if (next === written.current) return;
    written.current = next;
    const search = query.toString();
    history.replaceState(null, "", `${path}${search === "" ? "" : `?${search}`}${next}`);
  }, [bench, path, query]);
  return [bench, setBench] as const;
}
