// Charges: what responses must have cost, from the usage that clients saw, compared with the ledger of the gateway.

/** The model and usage in a response of either format. */
export interface ShownUsage {
  readonly model?: string | undefined;
  readonly usage?: Readonly<Record<string, unknown>> | null;
  readonly message?: ShownUsage;
}

/** USD per million tokens times a million. */
export const PRICES: Readonly<Record<string, { readonly input: bigint; readonly output: bigint }>> = {
  alpha: { input: 1_100_000n, output: 4_400_000n },
  beta: { input: 150_000n, output: 600_000n },
  gamma: { input: 3_000_000n, output: 15_000_000n },
};

/** Nano-USD with the default markup of 5 %, rounded up once. */
export function costOf({ model = "", usage }: ShownUsage): bigint | null {
  const price = PRICES[model];
  const input = usage?.prompt_tokens ?? usage?.input_tokens;
  const output = usage?.completion_tokens ?? usage?.output_tokens;
  if (price === undefined || typeof input !== "number" || typeof output !== "number") return null;
  const pico = BigInt(input) * price.input + BigInt(output) * price.output;
  return (pico * 105n + 99_999n) / 100_000n;
}

/** Possible costs of a request, by its id. */
export type Expected = { readonly exactly: bigint } | { readonly atMost: bigint };

/** A line of `/api/ledger`. */
export interface ChargeLine {
  readonly kind: string;
  readonly requestId: string | null;
  readonly amountUsd: string;
}

/** Every difference between the ledger and the clients, in words. */
export function compareCharges(
  expected: ReadonlyMap<string, Expected>,
  lines: readonly ChargeLine[],
): readonly string[] {
  const booked = new Map<string, bigint>();
  const problems: string[] = [];
  for (const { kind, requestId, amountUsd } of lines) {
    if (kind !== "charge" || requestId === null) continue;
    if (booked.has(requestId)) problems.push(`${requestId} is charged twice`);
    booked.set(requestId, nano(amountUsd));
    if (!expected.has(requestId)) problems.push(`${requestId} is charged and was never asked`);
  }
  for (const [id, wanted] of expected) {
    const paid = booked.get(id) ?? 0n;
    if ("exactly" in wanted && paid !== wanted.exactly) problems.push(`${id} paid ${paid}, owes ${wanted.exactly}`);
    if ("atMost" in wanted && paid > wanted.atMost) problems.push(`${id} paid ${paid}, owes at most ${wanted.atMost}`);
  }
  return problems;
}

/** A charge of "-0.000012345" is 12345n. */
function nano(amountUsd: string): bigint {
  const [whole = "0", fraction = ""] = amountUsd.replace("-", "").split(".");
  return BigInt(whole + fraction.padEnd(9, "0"));
}
