// Price against score, one dot per model. The price axis is logarithmic: prices span three orders of magnitude.

import { useEffect, useRef, useState } from "preact/hooks";

/** One model. `detail` is the text of its tooltip. */
interface Dot {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly tier: string;
  readonly detail: string;
}

/** Height above that of other charts: dots need room in both directions. */
const HEIGHT_PX = 300;
const MARGIN = { left: 44, right: 16, top: 12, bottom: 34 };
/** Prices that an axis may name; those inside the range are shown. */
const PRICE_TICKS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100];

/** A click on a dot picks its model. */
interface ScatterProps {
  readonly dots: readonly Dot[];
  readonly label: string;
  readonly onPick: (id: string) => void;
}

/** The axes span what is there, and the scores always end at 100. */
export function Scatter({ dots, label, onPick }: ScatterProps) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [near, setNear] = useState<Dot | null>(null);
  // The width is that of the card, which changes with the window.
  useEffect(() => {
    if (box.current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const xs = dots.map(({ x }) => Math.log10(x));
  const [left, right] = [Math.min(...xs, -1) - 0.1, Math.max(...xs, 1) + 0.1];
  const low = Math.floor(Math.min(...dots.map(({ y }) => y), 100) / 10) * 10;
  const px = (x: number): number =>
    MARGIN.left + ((Math.log10(x) - left) / (right - left || 1)) * (width - MARGIN.left - MARGIN.right);
  const py = (y: number): number =>
    MARGIN.top + (1 - (y - low) / (100 - low)) * (HEIGHT_PX - MARGIN.top - MARGIN.bottom);
  const scores = Array.from({ length: (100 - low) / 10 + 1 }, (_, index) => low + index * 10);
  return (
    <div class="plot" ref={box}>
      <svg role="img" aria-label={label} width={width} height={HEIGHT_PX}>
        <title>{label}</title>
        <g class="axes">
          {scores.map((score) => (
            <g key={score}>
              <line x1={MARGIN.left} x2={width - MARGIN.right} y1={py(score)} y2={py(score)} />
              <text x={MARGIN.left - 8} y={py(score) + 4} text-anchor="end">
                {score}
              </text>
            </g>
          ))}
          {PRICE_TICKS.filter((price) => Math.log10(price) >= left && Math.log10(price) <= right).map((price) => (
            <text key={price} x={px(price)} y={HEIGHT_PX - 14} text-anchor="middle">
              ${price}
            </text>
          ))}
        </g>
        {width > 0 && <Dots dots={dots} px={px} py={py} onNear={setNear} onPick={onPick} />}
      </svg>
      {near !== null && (
        <div class="tip" style={{ left: `${Math.min(px(near.x) + 12, width - 190)}px`, top: `${py(near.y)}px` }}>
          <b>{near.id}</b>
          <span>{near.detail}</span>
        </div>
      )}
    </div>
  );
}

/** The dots, with the functions that place them. */
interface DotsProps {
  readonly dots: readonly Dot[];
  readonly px: (x: number) => number;
  readonly py: (y: number) => number;
  readonly onNear: (dot: Dot | null) => void;
  readonly onPick: (id: string) => void;
}

/** Coloured by tier. The table of the figure lists the same models for keyboard and screen reader. */
function Dots({ dots, px, py, onNear, onPick }: DotsProps) {
  return (
    <g class="dots">
      {dots.map((dot) => (
        <circle
          key={dot.id}
          class="dot"
          data-tier={dot.tier}
          cx={px(dot.x)}
          cy={py(dot.y)}
          r={6}
          onPointerEnter={() => onNear(dot)}
          onPointerLeave={() => onNear(null)}
          onPointerUp={() => onPick(dot.id)}
        />
      ))}
    </g>
  );
}
