// A line of the request log as JSON and as CSV.

import { expect, test } from "vitest";
import { summaryOf } from "../../../../../src/core/requests/fields.ts";
import { CSV_HEADER, lineFields, writeCsvLine, writeSummary } from "../../../../../src/http/api/requests/line.ts";
import { variedRecord } from "../../../../support/stores/records.ts";

/** The header of version 0.1.0. Spreadsheets count columns, so it only grows at its end. */
const HEADER_0_1_0 =
  "id,requestId,createdAt,route,status,error,errorCode,stream,key,tier,classifiedTier,category,profile,keyProfile," +
  "toolScenario,model,provider,fallback,adjusted,attempts,inputTokens,cacheReadTokens,cacheWriteTokens,outputTokens," +
  "usageEstimated,chargeUsd,baselineUsd,savedUsd,latencyMs,firstContentMs,ending,keyName,keyProfileName,user,session," +
  "sessionState,tags";

const NAMES = { key: () => "laptop", profile: () => "cheap" };

test("new columns of the CSV file are at its end", () => {
  expect(CSV_HEADER.trim().slice(0, HEADER_0_1_0.length)).toBe(HEADER_0_1_0);
  expect(CSV_HEADER.trim().slice(HEADER_0_1_0.length)).toMatch(/^(,\w+)*$/);
});

test("a line has the fields of its schema, and a CSV row a cell for each column", () => {
  const line = writeSummary(summaryOf(variedRecord(7)), NAMES);
  expect(Object.keys(line)).toEqual(Object.keys(lineFields));
  expect(line).toMatchObject({
    ...{ createdAt: "2026-03-10T12:00:07.000Z", error: false, key: "key_7", keyName: "laptop", keyProfileName: null },
    ...{ chargeUsd: "0.000823543", baselineUsd: "0.000009", savedUsd: "-0.000814543", overheadMs: 7 },
  });
  const cells = writeCsvLine(line).trim().split(",");
  expect(cells).toHaveLength(CSV_HEADER.split(",").length);
  const cellOf = (column: string) => cells[CSV_HEADER.trim().split(",").indexOf(column)];
  expect([cellOf("cacheReadTokens"), cellOf("model"), cellOf("overheadMs")]).toEqual(["3", "model-0", "7"]);
  expect(writeCsvLine(line)).toContain('"team=team 2; n=7"');
});
