// The head of every page: its name, one sentence on what it is for, and its main action.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { RANGES } from "../range.ts";
import { place, setQuery } from "../router.ts";
import { Segmented } from "./button.tsx";

export function PageHead({
  title,
  purpose,
  children,
}: {
  readonly title: string;
  readonly purpose: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
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
  const { query } = place.value;
  const isCustom = query.has("from");
  const choices = isCustom ? [...SHORT, { value: "custom", label: "zoomed" }] : SHORT;
  return (
    <Segmented
      label="Time range"
      choices={choices}
      value={isCustom ? "custom" : (query.get("range") ?? "24h")}
      onChange={(range) => setQuery(range === "custom" ? {} : { range, from: null, to: null, after: null })}
    />
  );
}
