// The playground: type a prompt and see where it would go and why. No provider is called until you ask for it.

import { useEffect, useRef, useState } from "preact/hooks";
import { useLoad } from "../../api.ts";
import { Button, ButtonLink } from "../../kit/button.tsx";
import { writeCli } from "../../kit/cli-text.ts";
import { copyText } from "../../kit/copy.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { PageHead } from "../../kit/page.tsx";
import { Snippets } from "../../kit/snippets.tsx";
import { showToast } from "../../kit/toast.tsx";
import {
  chatBodyOf,
  type Draft,
  draftFragment,
  draftFrom,
  rulesOf,
  writeFragment,
} from "../../parts/playground-draft.ts";
import { hrefTo, place } from "../../router.ts";
import { serverCommand } from "../../session.ts";
import type { List, Profile } from "../../types.ts";
import { Compare } from "./compare.tsx";
import { Controls, Examples, Prompt } from "./form.tsx";
import { Outcome } from "./outcome.tsx";
import { Run } from "./run.tsx";
import * as TEXT from "./text.ts";
import { useDecision } from "./use-decision.ts";

/** Shows the draft at the left, and at the right what the router makes of it, or several versions of it. */
export function Playground() {
  const [draft, setDraft] = useDraft();
  const [isCopying, setCopying] = useState(false);
  const profiles = useLoad<List<Profile>>("/api/profiles?limit=200").data?.data ?? [];
  const first = useDecision(draft);
  const isComparing = draft.others.length > 0;
  const set = (change: Partial<Draft>): void => setDraft({ ...draft, ...change });
  return (
    <>
      <PageHead title={TEXT.playground} purpose={TEXT.purpose}>
        <Button
          isPressed={isComparing}
          onClick={() => set({ others: isComparing ? [] : [firstOther(draft, profiles)] })}
        >
          {TEXT.compare}
        </Button>
        <Button onClick={() => setCopying(true)}>{TEXT.copyAs}</Button>
        <Button onClick={share}>{TEXT.share}</Button>
        <ButtonLink href={`${hrefTo("/profiles/new")}${writeFragment(rulesOf(draft))}`}>
          {TEXT.saveAsProfile}
        </ButtonLink>
      </PageHead>
      {draft.from !== null && draft.prompt === "" && (
        <p class="notice">
          {TEXT.openedFromRequest} <a href={hrefTo(`/requests/${draft.from}`)}>{draft.from}</a>
          {TEXT.promptNotLogged}
        </p>
      )}
      <div class={isComparing ? "bench comparing" : "bench"}>
        <div class="bench-form">
          <Prompt draft={draft} set={set} />
          <Examples set={set} />
          <Controls draft={draft} set={set} profiles={profiles} />
        </div>
        <div class="bench-out">
          {isComparing ? (
            <Compare draft={draft} first={first} profiles={profiles} set={set} />
          ) : (
            <>
              <Outcome title={TEXT.decision} state={first} />
              <Run draft={draft} estimateUsd={first.preview?.estimate.costUsd ?? null} />
            </>
          )}
        </div>
      </div>
      {isCopying && <CopyAs draft={draft} onClose={() => setCopying(false)} />}
    </>
  );
}

/** The draft as a program in several languages and as a command. */
function CopyAs({ draft, onClose }: { readonly draft: Draft; readonly onClose: () => void }) {
  const body = chatBodyOf(draft);
  const origin = {
    command: serverCommand("route"),
    profile: draft.profileId || null,
    account: place.value.query.get("account"),
  };
  return (
    <Dialog title={TEXT.copyAsTitle} onClose={onClose} isWide>
      <Snippets label={TEXT.thisRequest} call={{ key: null, body }} cli={writeCli(body, origin)} />
    </Dialog>
  );
}

/** The address holds the whole draft, so the link is all there is to share. */
async function share(): Promise<void> {
  const isCopied = await copyText(location.href);
  showToast(isCopied ? TEXT.linkCopied : TEXT.copyAddress);
}

/** Chooses a first comparison that differs from the draft. */
function firstOther({ profileId }: Draft, profiles: readonly Profile[]): string {
  if (profileId !== "") return "profile:";
  return profiles[0] === undefined ? "tier:COMPLEX" : `profile:${profiles[0].id}`;
}

/** The draft lives in the fragment: a reload, a bookmark and Back find it again. */
function useDraft() {
  const [draft, setDraft] = useState<Draft>(() => draftFrom(place.value.hash));
  // The fragment that this hook wrote last. A different one came from a link or from Back.
  const written = useRef(place.value.hash);
  const { hash, path, query } = place.value;
  useEffect(() => {
    if (hash === written.current) return;
    written.current = hash;
    setDraft(draftFrom(hash));
  }, [hash]);
  useEffect(() => {
    const next = draftFragment(draft);
    if (next === written.current) return;
    written.current = next;
    const search = query.toString();
    // Not through the router: typing makes no steps for Back, and nothing else on the page changes.
    history.replaceState(null, "", `${path}${search === "" ? "" : `?${search}`}${next}`);
  }, [draft, path, query]);
  return [draft, setDraft] as const;
}
