// The price of the baseline, as it is shown beside savings.

import { Type } from "typebox";
import { AnyText, nullable } from "../../openapi/schema.ts";

export const BaselinePriceSchema = nullable(
  Type.Object(
    { input: Type.Number(), output: Type.Number(), asOf: AnyText },
    {
      description:
        "USD per million tokens, promotions not counted, and the day of the price. Null where it is not shown.",
    },
  ),
);
