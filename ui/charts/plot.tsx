// The plane that lines and bars are drawn on: axes, a tooltip at the pointer, a click that opens the requests behind a
// step, and dragging to zoom.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { zoneName } from "../clock.ts";
import { fullTimeLabel, logScale, type Scale, timeLabel, valueScale } from "./scale.ts";
import * as TEXT from "./text.ts";

/** The least height of the plane, without its axes. */
const PLOT_HEIGHT_PX = 168;
/** Room for the labels of the values, as long as `$12.40`. */
const LEFT_PX = 52;
const BOTTOM_PX = 22;
const TOP_PX = 8;
/** Closer than this, labels of times would run into each other. */
const LABEL_EVERY_PX = 74;
/** A label that would stick out at the right is left out. */
const LABEL_WIDTH_PX = 42;
/** Shortest drag; shorter movements are a click with an unsteady hand. */
const DRAG_PX = 8;

/** The plane in pixels, as charts draw on it. A slot is the width of one step. */
export interface Frame {
  readonly widthPx: number;
  readonly slotPx: number;
  readonly y: Scale;
  /** The left edge of a step. */
  x(index: number): number;
}

/** Data and callbacks that a chart hands to its plane. */
export interface PlotProps {
  readonly label: string;
  /** The beginning of each step. */
  readonly times: readonly number[];
  readonly step: "hour" | "day";
  /** Everything that must be within the axis. */
  readonly values: readonly number[];
  readonly format: (value: number) => string;
  readonly heightPx?: number;
  /** Keeps the axis to whole numbers: half a request is none. */
  readonly isWhole?: boolean;
  /** Powers of ten on the axis. */
  readonly isLog?: boolean;
  /** Name and value of each line in the tooltip. */
  readonly tooltip: (index: number) => readonly (readonly [string, string])[];
  /** A click on a step. */
  readonly onPick?: (index: number) => void;
  /** A drag from one step to another. */
  readonly onZoom?: (first: number, last: number) => void;
}

/** The plane fills the height of its card. Nothing is drawn before the width is known. */
export function Plot({ draw, ...props }: PlotProps & { readonly draw: (frame: Frame) => ComponentChildren }) {
  const { times, values } = props;
  const leastPx = props.heightPx ?? PLOT_HEIGHT_PX;
  const [box, { widthPx, boxPx }] = useSize();
  const heightPx = Math.max(leastPx, boxPx - TOP_PX - BOTTOM_PX);
  const plotPx = Math.max(10, widthPx - LEFT_PX);
  const slotPx = plotPx / Math.max(1, times.length);
  const frame: Frame = {
    widthPx: plotPx,
    slotPx,
    y: props.isLog === true ? logScale(values, heightPx) : valueScale(values, heightPx, props.isWhole),
    x: (index) => index * slotPx,
  };
  const pointer = usePointer(frame, props);
  return (
    <div class="plot filling" ref={box} style={{ minHeight: `${leastPx + TOP_PX + BOTTOM_PX}px` }}>
      <svg
        role="img"
        aria-label={props.label}
        width={widthPx}
        height={heightPx + TOP_PX + BOTTOM_PX}
        class={props.onPick === undefined ? "" : "pickable"}
        {...pointer.events}
      >
        <title>{props.label}</title>
        <g transform={`translate(${LEFT_PX} ${TOP_PX})`}>
          <Axes {...props} frame={frame} heightPx={heightPx} />
          {pointer.band !== null && (
            <rect class="zoom" x={pointer.band[0]} width={pointer.band[1] - pointer.band[0]} y={0} height={heightPx} />
          )}
          {pointer.index !== null && (
            <rect class="hover" x={frame.x(pointer.index)} width={slotPx} y={0} height={heightPx} />
          )}
          {widthPx > 0 && draw(frame)}
        </g>
      </svg>
      {pointer.index !== null && <Tip {...props} index={pointer.index} frame={frame} />}
    </div>
  );
}

/** Lines at round values, and as many times as there is room for. */
function Axes({ frame, times, step, format, heightPx }: PlotProps & { frame: Frame; heightPx: number }) {
  const every = Math.max(1, Math.ceil(LABEL_EVERY_PX / frame.slotPx));
  return (
    <g class="axes">
      {frame.y.ticks.map((tick) => (
        <g key={tick}>
          <line class={tick === 0 ? "zero" : ""} x1={0} x2={frame.widthPx} y1={frame.y(tick)} y2={frame.y(tick)} />
          <text x={-8} y={frame.y(tick) + 4} text-anchor="end">
            {withoutZeros(format(tick))}
          </text>
        </g>
      ))}
      {times.map((time, index) =>
        index % every === 0 && frame.x(index) + (frame.slotPx + LABEL_WIDTH_PX) / 2 < frame.widthPx ? (
          <text key={time} x={frame.x(index) + frame.slotPx / 2} y={heightPx + 17} text-anchor="middle">
            {timeLabel(time, step)}
          </text>
        ) : null,
      )}
    </g>
  );
}

/** `5 s` and `7.5 s` beside each other, where a table would have `5.00 s`. Money keeps its cents. */
function withoutZeros(text: string): string {
  return text.startsWith("$") ? text : text.replace(/(\.\d*?)0+(?=\D*$)/, "$1").replace(/\.(?=\D*$)/, "");
}

/** Stands on the side of the pointer that has more room. The table holds the same for screen readers. */
function Tip({ index, frame, times, step, tooltip }: PlotProps & { index: number; frame: Frame }) {
  const at = LEFT_PX + frame.x(index) + frame.slotPx / 2;
  const isRight = at > (frame.widthPx + LEFT_PX) / 2;
  const style = isRight ? { right: `${frame.widthPx + LEFT_PX - at + 12}px` } : { left: `${at + 12}px` };
  return (
    <div class="tip" style={style} aria-hidden="true">
      <b>{TEXT.inZone(fullTimeLabel(times[index] ?? 0, step), zoneName(step))}</b>
      {tooltip(index).map(([name, value]) => (
        <span key={name}>
          {name} <em>{value}</em>
        </span>
      ))}
    </div>
  );
}

/** Follows the pointer: the step below it, and the band that a drag has drawn so far. */
function usePointer(frame: Frame, { times, onPick, onZoom }: PlotProps) {
  const [index, setIndex] = useState<number | null>(null);
  const [band, setBand] = useState<readonly [number, number] | null>(null);
  // A ref: where the drag began changes nothing on screen.
  const startedAt = useRef<number | null>(null);
  const xOf = (event: PointerEvent & { currentTarget: Element }): number =>
    event.clientX - event.currentTarget.getBoundingClientRect().left - LEFT_PX;
  const indexAt = (x: number): number => Math.max(0, Math.min(times.length - 1, Math.floor(x / frame.slotPx)));
  return {
    index,
    band,
    events: {
      onPointerDown: (event: PointerEvent & { currentTarget: Element }) => {
        startedAt.current = xOf(event);
      },
      onPointerMove: (event: PointerEvent & { currentTarget: Element }) => {
        const x = xOf(event);
        setIndex(x < 0 ? null : indexAt(x));
        const from = startedAt.current;
        const isDragged = onZoom !== undefined && from !== null && Math.abs(x - from) > DRAG_PX;
        setBand(isDragged ? [Math.max(0, Math.min(x, from)), Math.max(x, from)] : null);
      },
      // A drag that leaves the chart is given up.
      onPointerLeave: () => {
        setIndex(null);
        setBand(null);
        startedAt.current = null;
      },
      onPointerUp: (event: PointerEvent & { currentTarget: Element }) => {
        if (band !== null) onZoom?.(indexAt(band[0]), indexAt(band[1]));
        else if (xOf(event) >= 0) onPick?.(indexAt(xOf(event)));
        startedAt.current = null;
        setBand(null);
      },
    },
  };
}

/** The size of the box, which takes what room its card has. The drawing lies on it and does not hold it open. */
function useSize() {
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ widthPx: 0, boxPx: 0 });
  useEffect(() => {
    if (box.current === null) return;
    // Whole pixels: fractions would draw again without a visible change.
    const observer = new ResizeObserver(([entry]) => {
      const { width = 0, height = 0 } = entry?.contentRect ?? {};
      setSize({ widthPx: Math.floor(width), boxPx: Math.floor(height) });
    });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return [box, size] as const;
}
