// The columns of the request log: what each shows, and which of them are shown. The choice is kept in this browser.

import type { ComponentChildren } from "preact";
import { FIELDS, LOG_FIELDS } from "../../../src/core/requests/fields.ts";
import { isUtc, zone } from "../../clock.ts";
import { balance, count, duration, percent } from "../../format.ts";
import { Check } from "../../kit/field.tsx";
import { Popover } from "../../kit/popover.tsx";
import { TierBadge } from "../../kit/tier.tsx";
import { keep, kept } from "../../parts/kept.ts";
import { hrefTo } from "../../router.ts";
import { signal } from "../../signal.ts";
import type { RequestLine } from "../../types.ts";
import { Status, savedShare, unroutedEndpoint } from "./facts.tsx";
import * as TEXT from "./text.ts";

/** The time is always shown: it is the link to the request. */
export interface Column {
  readonly id: string;
  readonly name: string;
  /** Name by which the API sorts the column. */
  readonly sort?: string;
  readonly isNumber?: boolean;
  /** Leaves the column out until the user chooses it. */
  readonly isExtra?: boolean;
  readonly title?: (row: RequestLine) => string | null;
  readonly show: (row: RequestLine) => ComponentChildren;
}

const NONE = <span class="faint">—</span>;

/** Fields that are shown in a way of their own, in the order of the table. */
const OWN_COLUMNS: readonly Column[] = [
  { id: "status", name: TEXT.status, show: (row) => <Status row={row} /> },
  {
    id: "tier",
    name: TEXT.tier,
    show: (row) => unroutedEndpoint(row.route) ?? <TierBadge tier={row.tier} from={row.classifiedTier} />,
  },
  {
    id: "model",
    name: TEXT.model,
    title: ({ model }) => model,
    show: (row) => (
      <>
        {row.model ?? NONE}
        {row.fallback && (
          <span class="caution" title={TEXT.fallbackAttempt(row.attempts)}>
            {" "}
            ↪ {row.attempts}
          </span>
        )}
      </>
    ),
  },
  { id: "prompt", name: TEXT.prompt, title: ({ preview }) => preview, show: ({ preview }) => preview ?? NONE },
  {
    id: "key",
    name: TEXT.key,
    title: ({ key }) => key,
    show: ({ key, keyName }) => <bdi>{keyName ?? key}</bdi>,
  },
  { id: "host", name: TEXT.host, isExtra: true, show: ({ provider }) => provider ?? NONE },
  {
    id: "user",
    name: LOG_FIELDS.user.title,
    isExtra: true,
    show: ({ user }) => (user === null ? NONE : <bdi>{user}</bdi>),
  },
  {
    id: "tags",
    name: TEXT.tags,
    isExtra: true,
    show: ({ tags }) =>
      Object.entries(tags)
        .map((tag) => tag.join("="))
        .join(", ") || NONE,
  },
  {
    id: "session",
    name: LOG_FIELDS.session.title,
    isExtra: true,
    show: ({ session }) => (session === null ? NONE : <a href={hrefTo(`/sessions/${session}`)}>{session}</a>),
  },
  {
    id: "tokens",
    name: TEXT.tokens,
    sort: "tokens",
    isNumber: true,
    title: ({ usageEstimated }) => (usageEstimated ? TEXT.estimated : TEXT.countedHint),
    // Tokens read from or written to a cache are input, too.
    show: ({ tokens }) =>
      tokens === null ? "–" : `${count(tokens.input + tokens.cacheRead + tokens.cacheWrite)} → ${count(tokens.output)}`,
  },
  {
    id: "cost",
    name: TEXT.cost,
    sort: "cost",
    isNumber: true,
    title: ({ chargeUsd }) => chargeUsd,
    show: ({ chargeUsd }) => (chargeUsd === null ? "–" : balance(chargeUsd)),
  },
  {
    id: "saved",
    name: TEXT.saved,
    isNumber: true,
    title: ({ savedUsd }) => savedUsd,
    show: (row) => percent(savedShare(row)),
  },
  { id: "first", name: TEXT.ttft, isNumber: true, show: ({ firstContentMs }) => duration(firstContentMs) },
  { id: "total", name: TEXT.total, sort: "latency", isNumber: true, show: ({ latencyMs }) => duration(latencyMs) },
];

const OWN_IDS: readonly string[] = OWN_COLUMNS.map(({ id }) => id);

/** Columns of this file, and one for every other field that has a title. */
const COLUMNS: readonly Column[] = [
  ...OWN_COLUMNS,
  ...FIELDS.flatMap(({ api, name, kind, title }): readonly Column[] => {
    if (title === undefined || OWN_IDS.includes(api)) return [];
    const isNumber = kind === "integer" || kind === "optionalInteger";
    const show = (row: RequestLine) => shownValue(row[api as keyof RequestLine], /Ms$/.test(name));
    return [{ id: api, name: title, isExtra: true, isNumber, show }];
  }),
];

function shownValue(value: unknown, isDuration: boolean): ComponentChildren {
  if (value === null) return NONE;
  if (typeof value === "number") return isDuration ? duration(value) : count(value);
  return typeof value === "boolean" ? value && "✓" : String(value);
}

const STORED = "switchyard.columns";
/** The ids of those that are shown. */
const shown = signal<readonly string[]>(readShown());

function readShown(): readonly string[] {
  const stored = kept(STORED)?.split(",");
  return stored ?? COLUMNS.filter(({ isExtra }) => !isExtra).map(({ id }) => id);
}

/** The prompt only where some row has one: content is not kept by default. */
export function shownColumns(rows: readonly RequestLine[]): readonly Column[] {
  const hasPrompts = rows.some(({ preview }) => preview !== null);
  return COLUMNS.filter(({ id }) => shown.value.includes(id) && (id !== "prompt" || hasPrompts));
}

/** Selects the columns that are shown, and the time zone of times. */
export function ColumnPicker() {
  const toggle = (id: string, isOn: boolean): void => {
    shown.value = isOn ? [...shown.value, id] : shown.value.filter((each) => each !== id);
    keep(STORED, shown.value.join(","));
  };
  return (
    <Popover label={TEXT.columns}>
      {COLUMNS.map(({ id, name }) => (
        <Check key={id} label={name} isOn={shown.value.includes(id)} onChange={(isOn) => toggle(id, isOn)} />
      ))}
      <hr />
      <Check label={TEXT.utcTimes} isOn={isUtc.value} onChange={zone} />
    </Popover>
  );
}
