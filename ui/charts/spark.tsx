// A sparkline: a line the size of a word, beside the number that it explains.

/** Size in units of the view box; the style sheet decides the real size. */
const WIDTH = 88;
const HEIGHT = 24;

/** Starts at zero, so that two lines can be compared. Screen readers skip the line and read the number. */
export function Spark({ values }: { readonly values: readonly (number | null)[] }) {
  const known = values.map((value) => value ?? 0);
  const high = Math.max(...known, Number.MIN_VALUE);
  const points = known.map((value, index) => {
    const x = known.length < 2 ? 0 : (index / (known.length - 1)) * WIDTH;
    return `${x.toFixed(1)},${(HEIGHT - 2 - (Math.max(0, value) / high) * (HEIGHT - 4)).toFixed(1)}`;
  });
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <polyline points={points.join(" ")} />
    </svg>
  );
}
