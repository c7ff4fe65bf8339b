// Parts of every page: the head with title, purpose and actions, sections, and the picker of the time range.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { timeLabel } from "../charts/scale.ts";
import { currentRange, RANGES } from "../range.ts";
import { hrefWith, setQuery } from "../router.ts";
import { ButtonLink, Segmented } from "./button.tsx";
import { TextField } from "./field.tsx";
import { Popover } from "./popover.tsx";
import * as TEXT from "./text.ts";

/** The children are the actions of the page, at the right. */
interface PageHeadProps {
  readonly title: string;
  readonly purpose: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** The head of a page. It also sets the title of the browser tab. */
export function PageHead({ title, purpose, children }: PageHeadProps) {
  useEffect(() => {
    document.title = TEXT.documentTitle(title);
  }, [title]);
  return (
    <header class="page-head">
      <div>
        <h1>{title}</h1>
        <p>{purpose}</p>
      </div>
      <div class="page-actions">{children}</div>
    </header>
  );
}

/** A card with a heading. */
export function Section({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** The ranges by their short names: `1h`, `24h`. */
const SHORT = Object.keys(RANGES).map((value) => ({ value, label: value }));

/** The time range, in the address. A new range starts a list at its first page again. */
export function RangePicker() {
  const { name, fromMs, toMs } = currentRange();
  return (
    <>
      <Segmented
        label={TEXT.timeRange}
        choices={SHORT}
        value={name}
        onChange={(range) => setQuery({ range, from: null, to: null, after: null })}
      />
      <Popover label={name === "custom" ? daysText(fromMs, toMs) : TEXT.customRange}>
        {/* The key makes the fields start from the range that is shown now. */}
        <CustomRange key={`${fromMs}-${toMs}`} fromMs={fromMs} toMs={toMs} />
      </Popover>
    </>
  );
}

const DAY_MS = 86_400_000;

/** A range of whole days, the last one included. */
function CustomRange({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }) {
  const [first, setFirst] = useState(isoDay(fromMs));
  const [last, setLast] = useState(isoDay(toMs - 1));
  const [startMs, endMs] = [Date.parse(first), Date.parse(last) + DAY_MS];
  const isRange = startMs < endMs;
  return (
    <>
      <TextField label={TEXT.from} type="date" value={first} onInput={setFirst} />
      <TextField
        label={TEXT.to}
        type="date"
        value={last}
        onInput={setLast}
        hint={TEXT.timesInUtc}
        error={isRange ? null : TEXT.choosePastFrom}
      />
      {isRange && (
        <ButtonLink kind="primary" href={hrefWith({ range: null, after: null, ...rangeChanges(startMs, endMs) })}>
          {TEXT.apply}
        </ButtonLink>
      )}
    </>
  );
}

/** The two ends as the address holds them. */
function rangeChanges(startMs: number, endMs: number) {
  return { from: new Date(startMs).toISOString(), to: new Date(endMs).toISOString() };
}

/** The day as a date field wants it. */
function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** `3 Nov – 7 Nov`, or one day. */
function daysText(fromMs: number, toMs: number): string {
  const [first, last] = [timeLabel(fromMs, "day"), timeLabel(toMs - 1, "day")];
  return first === last ? first : `${first} – ${last}`;
}
