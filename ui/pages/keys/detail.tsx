// One key: its usage of 30 days, latest requests, profile and limits, and how it ends.

import { useState } from "preact/hooks";
import { useLoad } from "../../api.ts";
import { BarChart } from "../../charts/bars.tsx";
import { Figure } from "../../charts/figure.tsx";
import { fullTimeLabel } from "../../charts/scale.ts";
import { ago, count, plural, usd, utc } from "../../format.ts";
import { Button, ButtonLink, Segmented } from "../../kit/button.tsx";
import { PageHead, Section } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { savedAgainst } from "../../parts/text.ts";
import { hrefTo } from "../../router.ts";
import type { List, ListedKey, RequestLine } from "../../types.ts";
import { RequestTable } from "../requests/table.tsx";
import { KeyEdit } from "./edit.tsx";
import { KeyLimits, KeyStatus, ProfileName } from "./facts.tsx";
import { Revocation, Rotation } from "./retire.tsx";
import * as TEXT from "./text.ts";

const DAY_MS = 86_400_000;

/** Shows one key. Revoked keys stay readable, too. */
export function KeyDetail({ id }: { readonly id: string }) {
  const key = useLoad<ListedKey>(`/api/keys/${encodeURIComponent(id)}`);
  return (
    <>
      <PageHead title={key.data?.name ?? TEXT.key} purpose={<a href={hrefTo("/keys")}>{TEXT.allKeys}</a>}>
        <ButtonLink href={hrefTo("/explore", { key: id, metric: "cost", by: "day,model" })}>{TEXT.explore}</ButtonLink>
      </PageHead>
      <Shown load={key} rows={8}>
        {(row) => (
          <>
            <div class="key-facts">
              <UsageFigure row={row} />
              <Facts row={row} />
            </div>
            <Recent id={id} />
          </>
        )}
      </Shown>
    </>
  );
}

/** Shows the usage by day, in requests or in money. */
function UsageFigure({ row }: { readonly row: ListedKey }) {
  const [what, setWhat] = useState("requests");
  const { from, requests, errors, chargeUsd, savedUsd, requestsPerDay, chargeUsdPerDay } = row.last30Days;
  const times = requestsPerDay.map((_, day) => Date.parse(from) + day * DAY_MS);
  const isSpend = what === "spend";
  const values = isSpend ? chargeUsdPerDay.map(Number) : requestsPerDay;
  const title = isSpend ? TEXT.spend : TEXT.requests;
  const summary = TEXT.usageSummary(
    plural(requests, "request"),
    plural(errors, "error"),
    usd(chargeUsd),
    usd(savedUsd),
  );
  return (
    <Figure
      title={TEXT.usage}
      trend={savedAgainst(summary, row.last30Days)}
      table={{
        head: [TEXT.dayUtc, TEXT.requests, TEXT.spend],
        rows: times.map((time, day) => [
          fullTimeLabel(time, "day"),
          count(requestsPerDay[day]),
          usd(chargeUsdPerDay[day]),
        ]),
      }}
      actions={
        <Segmented
          label={TEXT.usageOf}
          choices={[
            { value: "requests", label: TEXT.requests },
            { value: "spend", label: TEXT.spend },
          ]}
          value={what}
          onChange={setWhat}
        />
      }
    >
      <BarChart
        label={title}
        times={times}
        step="day"
        format={isSpend ? usd : count}
        stacks={[{ name: title, mark: "accent", values }]}
      />
    </Figure>
  );
}

/** Lists what the key may do, and opens the dialogs that change this. */
function Facts({ row }: { readonly row: ListedKey }) {
  const [open, setOpen] = useState("");
  const close = (): void => setOpen("");
  const isActive = row.status === "active";
  return (
    <div>
      <Section title={TEXT.limits}>
        <p class="row wrap">
          <KeyStatus row={row} /> <code>{row.prefix}…</code>
        </p>
        <p>
          {TEXT.profile}: <ProfileName row={row} />
        </p>
        <p title={utc(row.lastUsedAt)}>
          {TEXT.lastUsed}: {ago(row.lastUsedAt)}
        </p>
        <p>
          <KeyLimits row={row} />
        </p>
        {isActive && <Button onClick={() => setOpen("edit")}>{TEXT.edit}</Button>}
      </Section>
      {isActive && (
        <Section title={TEXT.dangerZone}>
          <p class="row wrap">
            <Button onClick={() => setOpen("rotate")}>{TEXT.rotateKey}</Button>
            <Button kind="danger" onClick={() => setOpen("revoke")}>
              {TEXT.revokeKey}
            </Button>
          </p>
        </Section>
      )}
      {open === "edit" && <KeyEdit target={row} onClose={close} />}
      {open === "rotate" && <Rotation target={row} onClose={close} />}
      {open === "revoke" && <Revocation target={row} onClose={close} />}
    </div>
  );
}

/** The latest ones, whatever the range. */
function Recent({ id }: { readonly id: string }) {
  const load = useLoad<List<RequestLine>>(`/api/requests?limit=5&key=${encodeURIComponent(id)}`);
  return (
    <section class="card">
      <h2>
        {TEXT.recentRequests}{" "}
        <a class="small" href={hrefTo("/requests", { key: id, range: "30d", from: null, to: null })}>
          {TEXT.viewAll}
        </a>
      </h2>
      <Shown load={load}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={TEXT.noRequests} />
          ) : (
            <RequestTable rows={data} openId={null} chosenId={null} />
          )
        }
      </Shown>
    </section>
  );
}
