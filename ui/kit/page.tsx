// The head of every page: its name, one sentence on what it is for, and its main action.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { timeLabel } from "../charts/scale.ts";
import { currentRange, RANGES } from "../range.ts";
import { hrefWith, setQuery } from "../router.ts";
import { ButtonLink, Segmented } from "./button.tsx";
import { TextField } from "./field.tsx";
import { Popover } from "./popover.tsx";

interface PageHeadProps {
  readonly title: string;
  readonly purpose: ComponentChildren;
  readonly children?: ComponentChildren;
}

export function PageHead({ title, purpose, children }: PageHeadProps) {
  useEffect(() => {
    document.title = `${title} · Switchyard`;
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

export function Section({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

const SHORT = Object.keys(RANGES).map((value) => ({ value, label: value }));

export function RangePicker() {
  const { name, fromMs, toMs } = currentRange();
  return (
    <>
      <Segmented
        label="Time range"
        choices={SHORT}
        value={name}
        onChange={(range) => setQuery({ range, from: null, to: null, after: null })}
      />
      <Popover label={name === "custom" ? daysText(fromMs, toMs) : "Custom"}>
        <CustomRange key={`${fromMs}-${toMs}`} fromMs={fromMs} toMs={toMs} />
      </Popover>
    </>
  );
}

const DAY_MS = 86_400_000;

/** Whole days, the last one included. */
function CustomRange({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }) {
  const [first, setFirst] = useState(isoDay(fromMs));
  const [last, setLast] = useState(isoDay(toMs - 1));
  const [startMs, endMs] = [Date.parse(first), Date.parse(last) + DAY_MS];
  const isRange = startMs < endMs;
  return (
    <>
      <TextField label="First day" type="date" value={first} onInput={setFirst} />
      <TextField
        label="Last day"
        type="date"
        value={last}
        onInput={setLast}
        hint="Days are those of UTC."
        error={isRange ? null : "It must not be before the first day."}
      />
      {isRange && (
        <ButtonLink kind="primary" href={hrefWith({ range: null, after: null, ...rangeChanges(startMs, endMs) })}>
          Show
        </ButtonLink>
      )}
    </>
  );
}

function rangeChanges(startMs: number, endMs: number) {
  return { from: new Date(startMs).toISOString(), to: new Date(endMs).toISOString() };
}

function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function daysText(fromMs: number, toMs: number): string {
  const [first, last] = [timeLabel(fromMs, "day"), timeLabel(toMs - 1, "day")];
  return first === last ? first : `${first} – ${last}`;
}
