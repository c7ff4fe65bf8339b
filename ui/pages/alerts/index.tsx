// Alerts: where events are sent, and the events themselves. Owners see those of their account.

import { useState } from "preact/hooks";
import { ALERT_KINDS } from "../../../src/core/alerts/kinds.ts";
import { useLoad } from "../../api.ts";
import { ago, utc } from "../../format.ts";
import { Button, ButtonLink } from "../../kit/button.tsx";
import { Choice } from "../../kit/field.tsx";
import { PageHead, Section } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { Table } from "../../kit/table.tsx";
import { hrefWith, place, setQuery } from "../../router.ts";
import type { AlertEvent, List } from "../../types.ts";
import { TargetForm } from "./form.tsx";
import { Targets } from "./targets.tsx";
import * as TEXT from "./text.ts";

export function Alerts() {
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <PageHead title={TEXT.alerts} purpose={TEXT.purpose}>
        <Button kind="primary" onClick={() => setAdding(true)}>
          {TEXT.addTarget}
        </Button>
      </PageHead>
      <Targets />
      <Events />
      {isAdding && <TargetForm target={null} onClose={() => setAdding(false)} />}
    </>
  );
}

const KIND_TITLES = Object.entries(ALERT_KINDS).map(([kind, { title }]) => [kind, title]);

/** The feed, newest first, in pages. */
function Events() {
  const { query } = place.value;
  const [kind, after] = [query.get("kind") ?? "", query.get("after")];
  const filter = `${kind === "" ? "" : `&kind=${kind}`}${after === null ? "" : `&after=${after}`}`;
  const events = useLoad<List<AlertEvent>>(`/api/alerts/events?limit=50${filter}`, { everyMs: 60_000 });
  return (
    <Section title={TEXT.events}>
      <div class="filters">
        <Choice
          label={TEXT.kind}
          value={kind}
          options={{ "": TEXT.allKinds, ...Object.fromEntries(KIND_TITLES) }}
          onChange={(next) => setQuery({ kind: next === "" ? null : next, after: null })}
        />
      </div>
      <Shown load={events} keepsRows>
        {({ data, next }) =>
          data.length === 0 ? (
            <Empty title={TEXT.noEvents}>{TEXT.noEventsHint}</Empty>
          ) : (
            <>
              <Table caption={TEXT.events} heads={TEXT.eventColumns}>
                {data.map((event) => (
                  <EventRow key={event.id} event={event} />
                ))}
              </Table>
              <p class="row">
                {after !== null && <ButtonLink href={hrefWith({ after: null })}>{TEXT.newest}</ButtonLink>}
                {next !== null && <ButtonLink href={hrefWith({ after: next })}>{TEXT.older}</ButtonLink>}
              </p>
            </>
          )
        }
      </Shown>
    </Section>
  );
}

function EventRow({ event }: { readonly event: AlertEvent }) {
  const { severity, text, createdAt, endedAt } = event;
  return (
    <tr>
      <td title={utc(createdAt)}>{ago(createdAt)}</td>
      <td>
        <span class="chip">{severity}</span>
      </td>
      <td class="wrap">{text}</td>
      <td>{endedAt === null ? <span class="chip">{TEXT.lasting}</span> : TEXT.ended(ago(endedAt))}</td>
    </tr>
  );
}
