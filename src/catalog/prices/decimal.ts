// Prices as price lists write them, USD per token or per million tokens, in decimal or scientific notation, read digit by
// digit. No float takes part: 1.5e-07 per token is exactly 150,000 micro-USD per million tokens.

/** Powers of ten from USD to micro-USD per million tokens. */
const FROM_TOKEN = 12;
const FROM_MILLION = 6;
/** Doubles that were computed show noise from here on, such as 1.1550000000000001e-06. */
const TRUE_DIGITS = 15;
const DIGITS_MAX = 60;
const EXPONENT_MAX = 100;
/** Ten thousand USD per million tokens, far above any model: more is a price in other units. */
const MICRO_MAX = 10_000_000_000n;

export type ReadPrice = { readonly ok: true; readonly micro: number } | { readonly ok: false; readonly reason: string };

export function readPerToken(text: string): ReadPrice {
  return readShifted(text, FROM_TOKEN);
}

export function readPerMillion(text: string): ReadPrice {
  return readShifted(text, FROM_MILLION);
}

function readShifted(text: string, shift: number): ReadPrice {
  const parts = /^(-?)(\d+)(?:\.(\d*))?(?:e([+-]?\d{1,5}))?$/i.exec(text.trim());
  if (parts === null) return refused("is not a number");
  const [, sign, whole = "", fraction = "", power = "0"] = parts;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  if (digits === "") return { ok: true, micro: 0 };
  if (sign === "-") return refused("is negative");
  const exponent = Number(power) - fraction.length + shift;
  if (digits.length > DIGITS_MAX || Math.abs(exponent) > EXPONENT_MAX) return refused("is out of range");
  const { value, zeros } = withoutNoise(digits);
  const micro = shifted(value, exponent + zeros);
  if (micro === null) return refused("is finer than a millionth of a USD per million tokens");
  return micro > MICRO_MAX ? refused("is too high to be a price per token") : { ok: true, micro: Number(micro) };
}

function refused(reason: string): ReadPrice {
  return { ok: false, reason };
}

/** At most fifteen digits, rounded, and how many zeros belong behind them. */
function withoutNoise(digits: string): { readonly value: bigint; readonly zeros: number } {
  const extra = Math.max(0, digits.length - TRUE_DIGITS);
  const head = BigInt(digits.slice(0, digits.length - extra));
  const isUp = extra > 0 && digits.charCodeAt(digits.length - extra) >= "5".charCodeAt(0);
  return { value: isUp ? head + 1n : head, zeros: extra };
}

/** Times ten to the power; null when that is no whole number. */
function shifted(value: bigint, power: number): bigint | null {
  if (power >= 0) return value * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return value % divisor === 0n ? value / divisor : null;
}
