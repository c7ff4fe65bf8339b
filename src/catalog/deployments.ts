// Deployments: what operators of an Azure resource call the models in it. A provider that lists them serves these models
// of the catalogue and no others, at the prices that the catalogue has for Azure.

import { nearest } from "./nearest.ts";
import { standInFor } from "./profiles.ts";
import type { HostRow, ModelRow } from "./rows.ts";

/** Hosts of the catalogue that stand for any resource of Azure OpenAI. */
export const AZURE = "azure-openai";

/** A provider that may list its deployments, by the ids of their models. */
interface Deploying {
  readonly provider: { readonly id: string; readonly kind: string };
  readonly deployments?: Readonly<Record<string, string>>;
}

/** A model that cannot be served as a deployment. */
interface DeploymentProblem {
  readonly at: string;
  readonly message: string;
  readonly suggestion: string | null;
}

/** The rows with the hosts that these providers have. `shipped` are the rows that no configuration has written. */
export function withDeployments(
  rows: ReadonlyMap<string, ModelRow>,
  { setups, shipped }: { readonly setups: readonly Deploying[]; readonly shipped: ReadonlySet<ModelRow> },
): { readonly rows: ReadonlyMap<string, ModelRow>; readonly problems: readonly DeploymentProblem[] } {
  const deployed = new Map(rows);
  const problems: DeploymentProblem[] = [];
  for (const { provider, deployments } of setups) {
    if (deployments === undefined) continue;
    const at = (model: string): string => `providers.${provider.id}.deployments.${model}`;
    for (const model of Object.keys(deployments)) {
      if (rows.has(model)) continue;
      const message = `there is no model "${model}" in the catalogue`;
      problems.push({ at: at(model), message, suggestion: nearest(model, rows.keys()) });
    }
    for (const [id, row] of deployed) {
      const name = Object.hasOwn(deployments, id) ? deployments[id] : undefined;
      const written = rows.get(id) as ModelRow;
      const terms = { name, isShipped: shipped.has(written), hosts: written.hosts ?? [] };
      const changed = deployedRow(row, provider, terms);
      if (changed !== null) deployed.set(id, changed);
      else {
        const message = `the catalogue has no price of ${id} on Azure; write the model with its price under models`;
        problems.push({ at: at(id), message, suggestion: null });
      }
    }
  }
  return { rows: deployed, problems };
}

interface Deployment {
  /** Name of the deployment; undefined where the provider has none of the model. */
  readonly name: string | undefined;
  readonly isShipped: boolean;
  /** The rows before any provider named its deployments. */
  readonly hosts: readonly HostRow[];
}

/** The model's price at the provider; null where none is known. */
function deployedRow(
  row: ModelRow,
  { id: provider, kind }: Deploying["provider"],
  { name, isShipped, hosts }: Deployment,
): ModelRow | null {
  const own = (row.hosts ?? []).filter((host) => host.provider === provider);
  const others = (row.hosts ?? []).filter((host) => host.provider !== provider);
  if (name === undefined) return isShipped && own.length > 0 ? { ...row, hosts: others } : row;
  if (row.provider === provider) return { ...row, upstream: name };
  const known = own[0] ?? hosts.find((host) => host.provider === standInFor(kind));
  return known === undefined ? null : { ...row, hosts: [...others, { ...known, provider, upstream: name }] };
}
