// The price of pictures that a provider makes for its model: it bills them like those of its image models.

import type { Catalog } from "../../catalog/catalog.ts";
import type { HostedModel, Model } from "../../core/model.ts";
import type { ImageAsk } from "../../core/search/web-search.ts";

/** Image models whose price a provider may charge for pictures that it makes itself. */
export function nativePictureModels(
  ask: Pick<ImageAsk, "model">,
  { models }: Pick<Catalog, "models">,
  provider?: string,
): readonly HostedModel[] {
  const priced = [...models.values()]
    .filter(({ endpoint }) => endpoint === "images")
    .flatMap(({ hosts }: Model) => hosts);
  const known = priced.filter(({ price }) => price !== null);
  const own = known.filter((host) => host.provider === provider);
  const near = own.length === 0 ? known : own;
  const named = near.filter(({ id, upstream }) => id === ask.model || upstream === ask.model);
  return named.length === 0 ? near : named;
}
