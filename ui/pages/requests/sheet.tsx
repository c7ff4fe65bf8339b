// One request beside the list: decision, attempts, cost, payload, and the record as it is stored.

import { useState } from "preact/hooks";
import { call, useLoad } from "../../api.ts";
import { usd, utc } from "../../format.ts";
import { isChordArmed, useShortcuts } from "../../keyboard.ts";
import { Button, ButtonLink } from "../../kit/button.tsx";
import { CopyBlock, CopyButton, copyText } from "../../kit/copy.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { SelectField, TextField } from "../../kit/field.tsx";
import { Sheet } from "../../kit/sheet.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { Tabs } from "../../kit/tabs.tsx";
import { useTask } from "../../kit/task.tsx";
import { TIER_OPTIONS, TierBadge } from "../../kit/tier.tsx";
import { showToast } from "../../kit/toast.tsx";
import { DecisionPanel } from "../../parts/decision.tsx";
import { playgroundHref } from "../../parts/playground-draft.ts";
import { baselineNamed } from "../../parts/text.ts";
import { hrefTo, place, setQuery } from "../../router.ts";
import type { RequestDetail } from "../../types.ts";
import { curlOf } from "./curl.ts";
import { Status, savedShare, unroutedEndpoint } from "./facts.tsx";
import { Happened } from "./happened.tsx";
import { Attempts, Cost, Payload } from "./tabs.tsx";
import * as TEXT from "./text.ts";
import { timeText } from "./time.ts";

/** Header and footer appear with the record. Until then the id is all that is known. */
export function RequestSheet({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const load = useLoad<RequestDetail>(`/api/requests/${encodeURIComponent(id)}`);
  useCopyKeys(load.data?.requestId ?? null);
  return (
    <Sheet
      label={TEXT.requestTitle(id)}
      onClose={onClose}
      header={<Head detail={load.data} id={id} />}
      footer={load.data === null ? undefined : <Foot detail={load.data} />}
    >
      <Shown load={load} rows={8}>
        {(detail) => <Body detail={detail} />}
      </Shown>
    </Sheet>
  );
}

/** c and ⌘C copy the request id, unless text is selected: then ⌘C is about that. */
function useCopyKeys(requestId: string | null): void {
  const copy = async (event: KeyboardEvent): Promise<void> => {
    if (requestId === null || isChordArmed() || getSelection()?.isCollapsed === false) return;
    // The browser would copy an empty selection.
    event.preventDefault();
    showToast((await copyText(requestId)) ? TEXT.requestIdCopied : TEXT.requestIdIs(requestId));
  };
  useShortcuts({ c: copy, "mod+c": copy });
}

/** Sums up the request. The charge links to its ledger entry. */
function Head({ detail, id }: { readonly detail: RequestDetail | null; readonly id: string }) {
  return (
    <>
      <h2 class="row">
        <code class="cut">{detail?.requestId ?? id}</code>
        <CopyButton text={detail?.requestId ?? id} />
      </h2>
      {detail !== null && (
        <p class="row faint">
          <Status row={detail} />
          {unroutedEndpoint(detail.route) ?? <TierBadge tier={detail.tier} />}
          <span class="cut">{detail.model ?? TEXT.failedTitle}</span>
          <time title={utc(detail.createdAt)}>{timeText(detail.createdAt)}</time>
          {detail.money.ledgerId !== null && (
            <a href={hrefTo("/credits", { entry: detail.money.ledgerId })} title={TEXT.viewLedgerEntry}>
              {TEXT.chargedAmount(usd(detail.money.chargeUsd))}
            </a>
          )}
        </p>
      )}
    </>
  );
}

/** Returns null for a request that was not charged. */
function baselineOf({ money: { baselineModel, baselinePrice } }: RequestDetail): string | null {
  return baselineModel === null ? null : baselineNamed(baselineModel, baselinePrice);
}

/** Shows why a request failed, then the tabs. The address names the open tab. Early rejections have no decision. */
function Body({ detail }: { readonly detail: RequestDetail }) {
  const tabs = [
    {
      id: "decision",
      label: TEXT.decision,
      show: () =>
        detail.decision === null ? (
          <Empty title={TEXT.noRoutingDecision}>{whyUndecided(detail)}</Empty>
        ) : (
          <DecisionPanel
            decision={detail.decision}
            answeredBy={detail.model}
            charged={{ ...detail, saved: savedShare(detail) }}
            baseline={baselineOf(detail)}
          />
        ),
    },
    { id: "attempts", label: TEXT.attemptsTab(detail.attemptCount), show: () => <Attempts detail={detail} /> },
    { id: "cost", label: TEXT.cost, show: () => <Cost detail={detail} /> },
    { id: "payload", label: TEXT.payload, show: () => <Payload detail={detail} /> },
    {
      id: "raw",
      label: TEXT.raw,
      show: () => <CopyBlock text={JSON.stringify(detail, null, 2)} label={TEXT.requestRecordJson} />,
    },
  ];
  return (
    <>
      {detail.error && <Happened detail={detail} />}
      <Tabs
        label={TEXT.aboutThisRequest}
        tabs={tabs}
        chosen={place.value.query.get("tab") ?? "decision"}
        onChoose={(tab) => setQuery({ tab: tab === "decision" ? null : tab }, { replace: true })}
      />
    </>
  );
}

function whyUndecided({ route, errorCode, status }: RequestDetail): string {
  const endpoint = unroutedEndpoint(route);
  if (endpoint !== null) return TEXT.notRouted(endpoint);
  return `${TEXT.refusedBefore} ${errorCode ?? TEXT.statusCode(status)}.`;
}

/** Offers actions on a request. The playground takes only chat requests. */
function Foot({ detail }: { readonly detail: RequestDetail }) {
  const [isReporting, setReporting] = useState(false);
  const { feedback } = detail;
  return (
    <>
      {unroutedEndpoint(detail.route) === null && (
        <ButtonLink href={playgroundHref(detail)}>{TEXT.openInPlayground}</ButtonLink>
      )}
      <CopyButton text={curlOf(detail, location.origin)} label={TEXT.copyAsCurl} kind="plain" />
      {detail.key !== "" && (
        <ButtonLink href={hrefTo("/requests", { key: detail.key })}>{TEXT.requestsFromThisKey}</ButtonLink>
      )}
      {detail.decision !== null && (
        <Button onClick={() => setReporting(true)}>
          {feedback === null ? TEXT.reportWrongTier : TEXT.reportedTier(feedback.tier)}
        </Button>
      )}
      {isReporting && <FeedbackDialog detail={detail} onClose={() => setReporting(false)} />}
    </>
  );
}

/** Feedback on a wrong tier, kept as a labelled example for the next training of the classifier. */
function FeedbackDialog({ detail, onClose }: { readonly detail: RequestDetail; readonly onClose: () => void }) {
  // Feedback that was given before can be corrected.
  const [tier, setTier] = useState(detail.feedback?.tier ?? detail.tier ?? "LIGHT");
  const [note, setNote] = useState(detail.feedback?.note ?? "");
  const { problem, run } = useTask();
  const submit = (event: Event): void => {
    event.preventDefault();
    void run(call("POST", `/api/requests/${detail.id}/feedback`, { body: { tier, note: note || null } }), () => {
      showToast(TEXT.reported(tier));
      onClose();
    });
  };
  return (
    <Dialog title={TEXT.reportWrongTier} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{TEXT.feedbackHint(detail.tier)}</p>
        <SelectField label={TEXT.correctTier} value={tier} options={TIER_OPTIONS} onChange={setTier} />
        <TextField label={TEXT.note} value={note} onInput={setNote} placeholder={TEXT.optional} />
        {problem}
        <footer>
          <Button kind="primary" type="submit">
            {TEXT.save}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
