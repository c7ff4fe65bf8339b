// One request beside the list: decision, attempts, cost, payload, and the record as it is stored.

import { useState } from "preact/hooks";
import { type ApiError, call, useLoad } from "../../api.ts";
import { ago, usd, utc } from "../../format.ts";
import { isChordArmed, useShortcuts } from "../../keyboard.ts";
import { Button, ButtonLink } from "../../kit/button.tsx";
import { CopyBlock, CopyButton, copyText } from "../../kit/copy.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { SelectField, TextField } from "../../kit/field.tsx";
import { Sheet } from "../../kit/sheet.tsx";
import { Empty, Problem, Shown } from "../../kit/states.tsx";
import { Tabs } from "../../kit/tabs.tsx";
import { TIER_OPTIONS, TierBadge } from "../../kit/tier.tsx";
import { showToast } from "../../kit/toast.tsx";
import { DecisionPanel } from "../../parts/decision.tsx";
import { requestFailure } from "../../parts/failure-text.ts";
import { playgroundHref } from "../../parts/playground-draft.ts";
import { hrefTo, place, setQuery } from "../../router.ts";
import type { RequestDetail } from "../../types.ts";
import { curlOf } from "./curl.ts";
import { Status } from "./table.tsx";
import { Attempts, Cost, Payload } from "./tabs.tsx";

/** Header and footer appear with the record. Until then the id is all that is known. */
export function RequestSheet({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const load = useLoad<RequestDetail>(`/api/requests/${encodeURIComponent(id)}`);
  useCopyKeys(load.data?.requestId ?? null);
  return (
    <Sheet
      label={`Request ${id}`}
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
    showToast((await copyText(requestId)) ? "Request id copied." : `Request id: ${requestId}`);
  };
  useShortcuts({ c: copy, "mod+c": copy });
}

/** What matters at a glance, with the charge as the way to its ledger entry. */
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
          <TierBadge tier={detail.tier} />
          <span class="cut">{detail.model ?? "Failed"}</span>
          <time title={utc(detail.createdAt)}>{ago(detail.createdAt)}</time>
          {detail.money.ledgerId !== null && (
            <a href={hrefTo("/credits", { entry: detail.money.ledgerId })} title="View ledger entry">
              {usd(detail.money.chargeUsd)} charged
            </a>
          )}
        </p>
      )}
    </>
  );
}

/** Why it failed comes first. The chosen tab is in the address. A request that was rejected before routing has no decision. */
function Body({ detail }: { readonly detail: RequestDetail }) {
  const tabs = [
    {
      id: "decision",
      label: "Decision",
      show: () =>
        detail.decision === null ? (
          <Empty title="No routing decision">
            Refused before routing: {detail.errorCode ?? `status ${detail.status}`}.
          </Empty>
        ) : (
          <DecisionPanel decision={detail.decision} answeredBy={detail.model} />
        ),
    },
    { id: "attempts", label: `Attempts ${detail.attemptCount}`, show: () => <Attempts detail={detail} /> },
    { id: "cost", label: "Cost", show: () => <Cost detail={detail} /> },
    { id: "payload", label: "Payload", show: () => <Payload content={detail.content} /> },
    {
      id: "raw",
      label: "Raw",
      show: () => <CopyBlock text={JSON.stringify(detail, null, 2)} label="Request record, JSON" />,
    },
  ];
  return (
    <>
      {detail.error && <p class="notice bad failure">{requestFailure(detail)}</p>}
      <Tabs
        label="About this request"
        tabs={tabs}
        chosen={place.value.query.get("tab") ?? "decision"}
        onChoose={(tab) => setQuery({ tab: tab === "decision" ? null : tab }, { replace: true })}
      />
    </>
  );
}

/** What can be done with a request. */
function Foot({ detail }: { readonly detail: RequestDetail }) {
  const [isReporting, setReporting] = useState(false);
  const { feedback } = detail;
  return (
    <>
      <ButtonLink href={playgroundHref(detail)}>Open in playground</ButtonLink>
      <CopyButton text={curlOf(detail, location.origin)} label="Copy as curl" kind="plain" />
      {detail.key !== "" && (
        <ButtonLink href={hrefTo("/requests", { key: detail.key })}>Requests from this key</ButtonLink>
      )}
      {detail.decision !== null && (
        <Button onClick={() => setReporting(true)}>
          {feedback === null ? "Report wrong tier" : `Reported: ${feedback.tier}`}
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
  const [error, setError] = useState<ApiError | null>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await call("POST", `/api/requests/${detail.id}/feedback`, { body: { tier, note: note || null } });
      showToast(`Reported: should have been ${tier}.`);
      onClose();
    } catch (problem) {
      setError(problem as ApiError);
    }
  };
  return (
    <Dialog title="Report wrong tier" onClose={onClose}>
      <form onSubmit={submit}>
        <p>Routed to {detail.tier}. Saved as feedback, without the prompt.</p>
        <SelectField label="Correct tier" value={tier} options={TIER_OPTIONS} onChange={setTier} />
        <TextField label="Note" value={note} onInput={setNote} placeholder="optional" />
        <Problem error={error} />
        <footer>
          <Button kind="primary" type="submit">
            Save
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
