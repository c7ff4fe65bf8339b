// The schemas of the contract, all together.

import { API_SCHEMAS } from "./api-schemas.ts";
import { PEOPLE_SCHEMAS } from "./people-schemas.ts";
import { PLAYGROUND_SCHEMAS } from "./playground-schemas.ts";
import { REQUEST_SCHEMAS } from "./request-schemas.ts";
import { V1_SCHEMAS } from "./v1-schemas.ts";

export const SCHEMAS: Readonly<Record<string, object>> = {
  ...V1_SCHEMAS,
  ...API_SCHEMAS,
  ...REQUEST_SCHEMAS,
  ...PLAYGROUND_SCHEMAS,
  ...PEOPLE_SCHEMAS,
};
