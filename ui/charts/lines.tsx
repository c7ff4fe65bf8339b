// Lines over time. The area between the first two can be filled: what was spent, and what it would have cost.

import { type Frame, Plot, type PlotProps } from "./plot.tsx";

/** One line. Null is a step without data. */
interface LineSeries {
  readonly name: string;
  /** The class that colours it. */
  readonly mark: string;
  readonly values: readonly (number | null)[];
}

/** Props of a line chart. With `isFilledBetween` the area between the first two lines is filled. */
type LineChartProps = Pick<PlotProps, "label" | "times" | "step" | "format" | "isLog" | "onPick" | "onZoom"> & {
  readonly lines: readonly LineSeries[];
  readonly isFilledBetween?: boolean;
};

/** A value between two gaps has no line to belong to, so it is drawn as a dot. */
export function LineChart({ lines, isFilledBetween = false, ...props }: LineChartProps) {
  return (
    <Plot
      {...props}
      values={lines.flatMap(({ values }) => values.filter((value) => value !== null))}
      tooltip={(index) =>
        lines.map(({ name, values }) => [name, values[index] == null ? "–" : props.format(values[index] as number)])
      }
      draw={(frame) => (
        <g>
          {isFilledBetween && <Between frame={frame} lines={lines} />}
          {lines.map((line) => (
            <g key={line.name} class={`line ${line.mark}`}>
              <path d={pathOf(frame, line.values)} />
              {line.values.map((value, index) =>
                value !== null && isAlone(line.values, index) ? (
                  <circle key={props.times[index]} cx={middle(frame, index)} cy={frame.y(value)} r={2.5} />
                ) : null,
              )}
            </g>
          ))}
        </g>
      )}
    />
  );
}

/** Fills the area: along the first line and back along the second. */
function Between({ frame, lines }: { readonly frame: Frame; readonly lines: readonly LineSeries[] }) {
  const [first, second] = lines;
  if (first === undefined || second === undefined) return null;
  const there = first.values.map((value, index) => `${middle(frame, index)} ${frame.y(value ?? 0)}`);
  const back = second.values.map((value, index) => `${middle(frame, index)} ${frame.y(value ?? 0)}`).reverse();
  return <path class="between" d={`M${[...there, ...back].join("L")}Z`} />;
}

/** Interrupts the line where a step has no data: a missing hour is not an hour of zero. */
function pathOf(frame: Frame, values: readonly (number | null)[]): string {
  return values
    .map((value, index) => {
      if (value === null) return "";
      const command = index === 0 || values[index - 1] == null ? "M" : "L";
      return `${command}${middle(frame, index).toFixed(1)} ${frame.y(value).toFixed(1)}`;
    })
    .join("");
}

function isAlone(values: readonly (number | null)[], index: number): boolean {
  return values[index - 1] == null && values[index + 1] == null;
}

/** Values belong to the middle of their step, as bars do. */
function middle(frame: Frame, index: number): number {
  return frame.x(index) + frame.slotPx / 2;
}
