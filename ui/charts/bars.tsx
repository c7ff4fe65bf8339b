// Stacked bars over time, in amounts or in shares of each bar, and plain rows of bars for rankings.

import type { ComponentChildren } from "preact";
import { percent } from "../format.ts";
import { type Frame, Plot, type PlotProps } from "./plot.tsx";

export interface Stack {
  readonly name: string;
  readonly mark: string;
  readonly values: readonly number[];
}

type BarChartProps = Pick<PlotProps, "label" | "times" | "step" | "format" | "onPick" | "onZoom" | "heightPx"> & {
  readonly stacks: readonly Stack[];
  readonly isShare?: boolean;
};

const BAR_GAP = 0.18;
const BAR_MAX_PX = 56;

export function BarChart({ stacks, isShare = false, ...props }: BarChartProps) {
  const totals = props.times.map((_, index) => stacks.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const parts = stacks.map((stack) => ({
    ...stack,
    parts: stack.values.map((value, index) => (isShare ? value / (totals[index] || 1) : value)),
  }));
  return (
    <Plot
      {...props}
      format={isShare ? (value) => percent(value) : props.format}
      isWhole={!isShare}
      values={isShare ? [0, 1] : totals}
      tooltip={(index) =>
        parts
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

interface BarProps {
  readonly frame: Frame;
  readonly index: number;
  readonly stacks: readonly (Stack & { readonly parts: readonly number[] })[];
}

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

export interface RankedRow {
  readonly id: string;
  readonly label: ComponentChildren;
  readonly value: number;
  readonly shown: string;
  readonly detail?: string;
  readonly href?: string;
  /** In the place of an address: what opens it. */
  readonly onOpen?: () => void;
}

/** Highest first; each row opens what is behind it. */
export function RankedBars({ rows }: { readonly rows: readonly RankedRow[] }) {
  const most = Math.max(...rows.map(({ value }) => value), Number.MIN_VALUE);
  return (
    <ol class="ranked">
      {rows.map((row) => (
        <li key={row.id}>
          <Opener row={row}>
            <span class="ranked-label">{row.label}</span>
            <span class="ranked-value">
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

function Opener({ row, children }: { readonly row: RankedRow; readonly children: ComponentChildren }) {
  if (row.onOpen === undefined) return <a href={row.href}>{children}</a>;
  return (
    <button type="button" onClick={row.onOpen}>
      {children}
    </button>
  );
}
