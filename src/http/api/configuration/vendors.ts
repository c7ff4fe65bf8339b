// /api/vendors: the providers that ship. A key connects one with all of its models. For operators.

import { readBuiltin } from "../../../catalog/builtin.ts";
import { hostRows } from "../../../catalog/rows.ts";
import { AnyText, Integer, named, page } from "../../openapi/schema.ts";
import { type ApiRoute, get } from "../route.ts";

/** Choice on the page that connects a provider. */
export const VendorSchema = named("Vendor", {
  id: AnyText,
  name: AnyText,
  kind: AnyText,
  // The variable that sets its key instead.
  keyVariable: AnyText,
  // The number of the catalogue's models that the vendor serves.
  models: Integer,
});

export const VENDOR_ROUTES: readonly ApiRoute[] = [
  get("listVendors", "/api/vendors", {
    summary: "Providers that ship with the gateway and can be connected with a key",
    access: "operator",
    response: page(VendorSchema),
    handle() {
      const { providers, models } = readBuiltin();
      const served = (id: string): number =>
        models.filter((row) => hostRows(row).some(({ provider }) => provider === id)).length;
      const data = providers.map(({ id, name, kind, keyVariable }) => ({
        id,
        name,
        kind,
        keyVariable,
        models: served(id),
      }));
      return { data, next: null };
    },
  }),
];
