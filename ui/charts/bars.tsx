// Stacked bars over time, in amounts or in shares of each bar, and rows of bars for rankings.

import type { ComponentChildren } from "preact";
import { percent } from "../format.ts";
import { type Frame, Plot, type PlotProps } from "./plot.tsx";

/** One layer of the bars: a value for each step, drawn in the colour of its class. */
interface Stack {
  readonly name: string;
  readonly mark: string;
  readonly values: readonly number[];
}

/** Props of a bar chart. With `isShare` every bar is as tall as the others, and its layers are shares of it. */
type BarChartProps = Pick<PlotProps, "label" | "times" | "step" | "format" | "onPick" | "onZoom" | "heightPx"> & {
  readonly stacks: readonly Stack[];
  readonly isShare?: boolean;
};

/** The share of a step that stays empty between two bars. */
const BAR_GAP = 0.18;
/** A few bars on a wide screen should still look like bars. */
const BAR_MAX_PX = 56;

/** Layers are drawn from the bottom up in the order given. */
export function BarChart({ stacks, isShare = false, ...props }: BarChartProps) {
  const totals = props.times.map((_, index) => stacks.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const parts = stacks.map((stack) => ({
    ...stack,
    // A step without requests has no shares: it stays empty and divides by nothing.
    parts: stack.values.map((value, index) => (isShare ? value / (totals[index] || 1) : value)),
  }));
  return (
    <Plot
      {...props}
      format={isShare ? (value) => percent(value) : props.format}
      isWhole={!isShare && totals.every(Number.isInteger)}
      values={isShare ? [0, 1] : totals}
      tooltip={(index) =>
        parts
          // Layers without a value would only fill the tooltip.
          .filter(({ values }) => (values[index] ?? 0) !== 0)
          .map(({ name, values, parts: shares }) => [
            name,
            isShare
              ? `${percent(shares[index] ?? 0)} · ${props.format(values[index] ?? 0)}`
              : props.format(values[index] ?? 0),
          ])
      }
      draw={(frame) => props.times.map((time, index) => <Bar key={time} frame={frame} index={index} stacks={parts} />)}
    />
  );
}

/** One bar with its layers; `parts` are the heights, in amounts or shares. */
interface BarProps {
  readonly frame: Frame;
  readonly index: number;
  readonly stacks: readonly (Stack & { readonly parts: readonly number[] })[];
}

/** Each layer begins where the one below it ends. */
function Bar({ frame, index, stacks }: BarProps) {
  const width = Math.max(1, Math.min(BAR_MAX_PX, frame.slotPx * (1 - BAR_GAP)));
  const x = frame.x(index) + (frame.slotPx - width) / 2;
  let base = 0;
  return (
    <g>
      {stacks.map(({ name, mark, parts }) => {
        const value = parts[index] ?? 0;
        const bottom = frame.y(base);
        base += value;
        const height = bottom - frame.y(base);
        if (height <= 0) return null;
        return <rect key={name} class={`bar ${mark}`} x={x} width={width} y={frame.y(base)} height={height} />;
      })}
    </g>
  );
}

/** A row of a ranking. It opens an address, or calls `onOpen`. */
interface RankedRow {
  readonly id: string;
  readonly label: ComponentChildren;
  readonly value: number;
  readonly shown: string;
  /** The value in full. */
  readonly title?: string;
  readonly detail?: string;
  readonly href?: string;
  /** Called in place of opening an address, such as for "show the rest". */
  readonly onOpen?: () => void;
}

/** Rows in the order given, which callers sort. Each opens what is behind it. */
export function RankedBars({ rows }: { readonly rows: readonly RankedRow[] }) {
  // The smallest positive number keeps an all-zero ranking from dividing by zero.
  const most = Math.max(...rows.map(({ value }) => value), Number.MIN_VALUE);
  return (
    <ol class="ranked">
      {rows.map((row) => (
        <li key={row.id}>
          <Opener row={row}>
            <span class="ranked-label">{row.label}</span>
            <span class="ranked-value" title={row.title}>
              {row.shown}
              {row.detail !== undefined && <small class="faint">{row.detail}</small>}
            </span>
            <span class="ranked-track" aria-hidden="true">
              <i style={{ width: `${Math.max(0.5, (row.value / most) * 100)}%` }} />
            </span>
          </Opener>
        </li>
      ))}
    </ol>
  );
}

/** A link where there is an address, else a button. */
function Opener({ row, children }: { readonly row: RankedRow; readonly children: ComponentChildren }) {
  if (row.onOpen === undefined) return <a href={row.href}>{children}</a>;
  return (
    <button type="button" onClick={row.onOpen}>
      {children}
    </button>
  );
}
