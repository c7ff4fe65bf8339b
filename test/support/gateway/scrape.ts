// A scrape of /metrics, taken apart: which metrics there are, and with which labels their lines came.

export interface Scrape {
  /** Every name that a query can ask for: of a histogram also its buckets, sum and count. */
  readonly names: ReadonlySet<string>;
  /** The families, as HELP and TYPE name them. */
  readonly families: ReadonlySet<string>;
  /** The labels seen on the lines of a name; undefined where it had none. */
  labelsOf(name: string): ReadonlySet<string> | undefined;
  /** The value of the one line that starts like this: `name` or `name{label="value"}`. */
  value(series: string): number | undefined;
}

export async function scrape(url: string): Promise<Scrape> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const families = new Map<string, string>();
  const labels = new Map<string, Set<string>>();
  for (const line of text.split("\n")) {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (name !== undefined) families.set(name, type ?? "");
    const [, series, within = ""] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (series === undefined) continue;
    const seen = labels.get(series) ?? new Set<string>();
    for (const [, label] of within.matchAll(/(\w+)="/g)) seen.add(label as string);
    labels.set(series, seen);
  }
  const parts = (name: string): string[] =>
    families.get(name) === "histogram" ? ["_bucket", "_sum", "_count"].map((part) => name + part) : [name];
  return {
    names: new Set([...families.keys()].flatMap(parts)),
    families: new Set(families.keys()),
    labelsOf: (name) => labels.get(name),
    value(series) {
      const line = text.split("\n").find((each) => each.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length + 1));
    },
  };
}
