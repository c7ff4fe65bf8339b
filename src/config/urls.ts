// Readers for addresses and for the markup: values whose check is more than a type and a range.

import type { Located } from "./located.ts";
import { hostKind } from "./network.ts";
import { hidden, number, type Reader, refuse, text } from "./readers.ts";
import type { Report } from "./report.ts";

/** `sqlite:PATH` or a PostgreSQL address. Never shown, since it may hold a password. */
export const databaseUrl: Reader<string> = hidden(
  text({
    test: (value) => /^sqlite:./.test(value) || (/^postgres(ql)?:\/\//.test(value) && URL.canParse(value)),
    expected: "sqlite:PATH or postgres://user:password@host/database",
  }),
);

export const redisUrl: Reader<string> = hidden(
  text({
    test: (value) => /^rediss?:\/\//.test(value) && URL.canParse(value),
    expected: "redis://host:port or rediss://host:port",
  }),
);

export const corsOrigin: Reader<string> = text({
  test: (value) => value === "*" || (URL.canParse(value) && new URL(value).origin === value),
  expected: "an origin such as https://app.example.com, without a path",
});

/** A provider's address, without the slash at its end. */
export function baseUrl(node: Located, report: Report): string | undefined {
  const value = text({ test: URL.canParse, expected: "an http or https address" })(node, report);
  if (value === undefined) return undefined;
  const url = new URL(value);
  if (url.username !== "" || url.password !== "") {
    const message = "the address must not hold a user name or password; use apiKey or headers";
    report.problems.push({ place: node.place, message, suggestion: null });
    return undefined;
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return refuse(node, report, "an http or https address");
  if (hostKind(url.hostname) === "forbidden") {
    const message = `${url.hostname} is an address the gateway never calls (link-local, metadata or reserved)`;
    report.problems.push({ place: node.place, message, suggestion: null });
    return undefined;
  }
  if (url.search !== "" || url.hash !== "") return refuse(node, report, "an address without ? and #");
  const trimmed = value.replace(/\/+$/, "");
  const endpoint = /\/(chat\/completions|messages)$/.exec(trimmed);
  if (endpoint === null) return trimmed;
  return refuse(node, report, "the address before the endpoint's path", trimmed.slice(0, endpoint.index));
}

const PPM = 1_000_000;

/** A fraction such as 0.05, in parts per million: whole, so that no money is counted in floating point. */
export function markupPpm(node: Located, report: Report): number | undefined {
  const fraction = number({ min: 0, max: 10 })(node, report);
  if (fraction === undefined) return undefined;
  const ppm = Math.round(fraction * PPM);
  const isExact = Math.abs(ppm - fraction * PPM) < 1e-6;
  return isExact ? ppm : refuse(node, report, "a fraction of at most six decimals");
}
