// A histogram of times with one label or none. Its own `observe` would look each time up by a text that it puts together
// from the labels, which a request pays for several times over.

import { Histogram, type HistogramConfiguration } from "prom-client";

/** The times with one value of the label. */
interface Series {
  /** By bucket; those beyond the last bound come last. */
  readonly counts: number[];
  sum: number;
}

type TimeConfiguration = HistogramConfiguration<string> & { readonly buckets: readonly number[] };

export class TimeHistogram extends Histogram<string> {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #label: string | null;
  readonly #series = new Map<string, Series>();

  constructor(configuration: TimeConfiguration) {
    super(configuration);
    const { name, help, buckets, labelNames = [] } = configuration;
    this.#name = name;
    this.#help = help;
    this.#bounds = buckets;
    this.#label = labelNames[0] ?? null;
    if (this.#label === null) this.#add("");
  }

  /** `labelled`: the value of its label, where it has one. */
  note(seconds: number, labelled = ""): void {
    const series = this.#series.get(labelled) ?? this.#add(labelled);
    let bucket = 0;
    while (bucket < this.#bounds.length && seconds > (this.#bounds[bucket] as number)) bucket += 1;
    (series.counts[bucket] as number) += 1;
    series.sum += seconds;
  }

  /** What prom-client reads, for a text and for `get` alike. */
  async getForPromString(): Promise<object> {
    const values = [...this.#series].flatMap(([labelled, series]) => this.#valuesOf(labelled, series));
    return { name: this.#name, help: this.#help, type: "histogram", values, aggregator: "sum" };
  }

  #add(labelled: string): Series {
    const series: Series = { counts: Array<number>(this.#bounds.length + 1).fill(0), sum: 0 };
    this.#series.set(labelled, series);
    return series;
  }

  #valuesOf(labelled: string, { counts, sum }: Series): readonly object[] {
    const sharedLabels = this.#label === null ? {} : { [this.#label]: labelled };
    let count = 0;
    const buckets = [...this.#bounds, "+Inf"].map((le, bucket) => {
      count += counts[bucket] as number;
      return { labels: { le }, sharedLabels, value: count, metricName: `${this.#name}_bucket` };
    });
    return [
      ...buckets,
      { labels: {}, sharedLabels, value: sum, metricName: `${this.#name}_sum` },
      { labels: {}, sharedLabels, value: count, metricName: `${this.#name}_count` },
    ];
  }
}
