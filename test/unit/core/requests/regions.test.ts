// Which places lie inside which.

import { expect, test } from "vitest";
import { liesIn } from "../../../../src/core/requests/regions.ts";

test.each([
  ["de", "eu", true],
  ["eu", "eu", true],
  ["EU", "eu", true],
  ["eu-central-1", "de", true],
  ["eu-central-1", "eu", true],
  ["eu-central-1", "eu-central-1", true],
  ["europe-west4", "nl", true],
  ["swedencentral", "eu", true],
  ["us-east-1", "us", true],
  ["us-gov-west-1", "us", true],
  ["us-central1", "us", true],
  // Regions whose names sound European lie outside the Union.
  ["eu-west-2", "eu", false],
  ["eu-central-2", "eu", false],
  ["europe-west2", "eu", false],
  ["europe-west6", "eu", false],
  ["gb", "eu", false],
  ["eu", "de", false],
  ["us", "us-east-1", false],
  ["global", "eu", false],
  ["us-elsewhere", "us", false],
])("%s lies in %s: %s", (region, place, isInside) => {
  expect(liesIn(region, place)).toBe(isInside);
});
