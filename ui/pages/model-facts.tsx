// What the table of models and the sheet of one both say.

import type { Model, Usage } from "../types.ts";

export interface SeenModel extends Model {
  readonly usage: Usage | null;
  readonly share: number;
}

export function perMillion(perToken: string | null): number | null {
  return perToken === null ? null : Number(perToken) * 1e6;
}

export function Health({ model }: { readonly model: Model }) {
  const { isResting, consecutiveFailures } = model.health;
  if (!model.isRoutable) return <span class="faint">no key</span>;
  if (isResting) return <span class="status bad">resting</span>;
  if (consecutiveFailures > 0) return <span class="status caution">{consecutiveFailures} failed</span>;
  return <span class="status good">ok</span>;
}
