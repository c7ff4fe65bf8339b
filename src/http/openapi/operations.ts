// Every operation of the server, in the order of the documentation. A test holds these tables and the routes equal.

import { API_OPERATIONS } from "./api-operations.ts";
import type { Operation } from "./operation.ts";
import { PEOPLE_OPERATIONS } from "./people-operations.ts";
import { PLAYGROUND_OPERATIONS } from "./playground-operations.ts";
import { REQUEST_OPERATIONS } from "./request-operations.ts";
import { SERVICE_OPERATIONS } from "./service-operations.ts";
import { V1_OPERATIONS } from "./v1-operations.ts";

export const OPERATIONS: readonly Operation[] = [
  ...V1_OPERATIONS,
  ...API_OPERATIONS,
  ...PLAYGROUND_OPERATIONS,
  ...REQUEST_OPERATIONS,
  ...PEOPLE_OPERATIONS,
  ...SERVICE_OPERATIONS,
];
