// The operations on recorded requests: the log, one request, marks, export and totals.

import { CATEGORIES, ROUTING_PROFILES } from "../../core/decision.ts";
import { USAGE_GROUPS, USAGE_STEPS } from "../../core/requests/log.ts";
import { ANSWERED_AT } from "../../core/requests/records.ts";
import { TIERS } from "../../core/tiers.ts";
import { account, api, idInPath, json, type Operation, page, paging } from "./operation.ts";

const from = query("from", { type: "string", format: "date-time" }, "Requests that began at this time or later.");
const to = query("to", { type: "string", format: "date-time" }, "Requests that began before this time.");
const groupFilters = [
  query("tier", { type: "string", enum: [...TIERS, "none"] }, "`none`: refused before a tier was found."),
  query("model", { type: "string" }, "The model that answered; `none`: nobody did."),
  query("key", { type: "string" }, "The id of a key."),
];
const filters = [
  from,
  to,
  ...groupFilters,
  query(
    "status",
    { type: "string" },
    "A status (402), several (401,404), a class (4xx), `broken` (streams), or `error`: all that failed.",
  ),
  query("provider", { type: "string" }, "The provider whose model answered; `none`: nobody did."),
  query("keyProfile", { type: "string" }, "The id of the saved profile that the key had; `none`: it had none."),
  query("profile", { type: "string", enum: [...ROUTING_PROFILES, "none"] }, "How it asked to be routed."),
  query("fallback", { type: "boolean" }, "Whether another model than the one selected answered."),
  query(
    "answered",
    { type: "string", examples: ["second,later"] },
    `Which try answered: ${ANSWERED_AT.join(", ")}, or several with commas between; \`none\`: every try failed.`,
  ),
  query("failed", { type: "string" }, "A provider that failed it, so that another try was needed or none was left."),
  query(
    "adjusted",
    { type: "boolean" },
    "Whether more than the prompt decided: a floor, a ceiling, money, a missing ability, an open tool call, a fallback.",
  ),
  query("costFrom", { type: "string", examples: ["0.001"] }, "What was charged, in USD: at least this."),
  query("costTo", { type: "string", examples: ["0.01"] }, "What was charged, in USD: less than this."),
  query("category", { type: "string", enum: CATEGORIES }, "What kind of request it was."),
  query("q", { type: "string" }, "The beginning of a request id."),
];

export const REQUEST_OPERATIONS: readonly Operation[] = [
  api("listRequests", "get", "/api/requests", {
    summary: "Recorded requests, newest first",
    parameters: [account, ...filters, ...paging],
    answer: page("RequestLine"),
    errors: ["400"],
  }),
  api("exportRequests", "get", "/api/requests/export", {
    summary: "Every recorded request that the filter lets through, streamed",
    parameters: [
      account,
      query("format", { type: "string", enum: ["ndjson", "csv"], default: "ndjson" }, ""),
      ...filters,
    ],
    answer: { "application/x-ndjson": { schema: { type: "string" } }, "text/csv": { schema: { type: "string" } } },
    errors: ["400"],
  }),
  api("getRequestHistogram", "get", "/api/requests/histogram", {
    summary: "How many requests the filter lets through, by hour or day; hours and days are whole and in UTC",
    parameters: [account, query("by", { type: "string", enum: ["hour", "day"], default: "hour" }, ""), ...filters],
    answer: json("RequestHistogram"),
    errors: ["400"],
  }),
  api("getRequest", "get", "/api/requests/{id}", {
    summary: "One request as a whole, by its own id or its X-Request-Id",
    parameters: [idInPath, account],
    answer: json("RecordedRequest"),
  }),
  api("markRequest", "post", "/api/requests/{id}/feedback", {
    summary: "Say which tier a request should have had; a second mark replaces the first",
    parameters: [idInPath, account],
    body: json("NewFeedback", { tier: "COMPLEX", note: "a proof" }),
    answer: json("MarkedRequest"),
  }),
  api("exportFeedback", "get", "/api/requests/feedback", {
    summary: "Every mark of a wrong tier with the numbers the router can learn from, for operators; no text",
    answer: { "application/x-ndjson": { schema: { type: "string" } } },
  }),
  api("watchRequests", "get", "/api/events", {
    summary: "The log as it grows: server-sent events ready, request (a RequestLine), changed, missed and alive",
    parameters: [account, ...filters],
    answer: { "text/event-stream": { schema: { type: "string" } } },
    errors: ["400", "503"],
  }),
  api("getUsage", "get", "/api/usage", {
    summary: "Totals by hour, day or over the range; hours and days are whole and in UTC",
    parameters: [
      account,
      from,
      to,
      query(
        "by",
        { type: "string", default: "day" },
        `One of ${[...USAGE_STEPS, ...USAGE_GROUPS].join(", ")}; or two, as in day,model.`,
      ),
      query("group", { type: "string", enum: USAGE_GROUPS }, "One row for each of these."),
      query("latency", { type: "boolean", default: true }, "`false` is quicker: percentiles are null."),
      ...groupFilters,
    ],
    answer: json("UsagePage"),
    errors: ["400"],
  }),
  api("getProviderFailures", "get", "/api/usage/failures", {
    summary: "How many requests each provider failed, by hour, day or over the range; one that two failed is in both",
    parameters: [
      account,
      from,
      to,
      query("by", { type: "string", enum: USAGE_STEPS, default: "day" }, ""),
      query("key", { type: "string" }, "The id of a key."),
    ],
    answer: json("FailurePage"),
    errors: ["400"],
  }),
];

function query(name: string, schema: object, description: string): object {
  return { name, in: "query", schema, ...(description === "" ? {} : { description }) };
}
