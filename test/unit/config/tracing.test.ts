// Options of traces: what the usual OTEL_ variables result in, and what can be wrong with them.

import { describe, expect, it } from "vitest";
import { goodLoad, problemsOf } from "./workspace.ts";

const tracing = (env: Record<string, string>, yaml?: string) =>
  goodLoad({ env, ...(yaml === undefined ? {} : { yaml }) }).settings.tracing;

const COLLECTOR = "http://collector:4318";

describe("traces", () => {
  it.each<readonly [string, Record<string, string>]>([
    ["without an endpoint", {}],
    ["without an endpoint, whatever else is set", { OTEL_SERVICE_NAME: "x", OTEL_TRACES_SAMPLER: "always_on" }],
    ["with no exporter", { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, OTEL_TRACES_EXPORTER: "none" }],
    ["with the switch", { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, OTEL_SDK_DISABLED: "true" }],
  ])("are off %s", (_name, env) => {
    expect(tracing(env)).toBeNull();
  });

  it("have defaults for everything but the endpoint", () => {
    expect(tracing({ OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR })).toEqual({
      url: `${COLLECTOR}/v1/traces`,
      headers: {},
      protocol: "http/protobuf",
      compression: "none",
      timeoutMs: 10_000,
      resource: { "service.name": "switchyard" },
      sampler: "parentbased_always_on",
      samplerRatio: 1,
      queueMax: 2_048,
      delayMs: 5_000,
      hasContent: false,
    });
  });

  it.each([
    [`${COLLECTOR}/`, `${COLLECTOR}/v1/traces`],
    [`${COLLECTOR}/otlp`, `${COLLECTOR}/otlp/v1/traces`],
  ])("of %s go to %s", (endpoint, url) => {
    expect(tracing({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })?.url).toBe(url);
  });

  it("have an endpoint of their own, used as it is", () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://else/where" };
    expect(tracing(env)?.url).toBe("https://else/where");
  });

  it("add up headers and attributes; the name of the service has the last word", () => {
    const settings = tracing({
      OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abc, x-team = a",
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: "x-team=b",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=other,deployment.environment.name=prod,empty=",
      OTEL_SERVICE_NAME: "edge",
    });
    expect(settings?.headers).toEqual({ authorization: "Bearer abc", "x-team": "b" });
    expect(settings?.resource).toEqual({
      "service.name": "edge",
      "deployment.environment.name": "prod",
      empty: "",
    });
  });

  it("take service.name from the attributes where no name is given", () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, OTEL_RESOURCE_ATTRIBUTES: "service.name=edge" };
    expect(tracing(env)?.resource).toEqual({ "service.name": "edge" });
  });

  it("can be set in the file, which the environment outweighs", () => {
    const yaml = `tracing: { endpoint: "${COLLECTOR}", sampler: traceidratio, samplerArg: 0.1, headers: "a=b" }\n`;
    expect(tracing({ OTEL_TRACES_SAMPLER_ARG: "0.2" }, yaml)).toMatchObject({
      url: `${COLLECTOR}/v1/traces`,
      sampler: "traceidratio",
      samplerRatio: 0.2,
      headers: { a: "b" },
    });
  });
});

describe("what is wrong is said", () => {
  it.each<readonly [string, string, RegExp, string | null]>([
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", /http or https address/, null],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:secret@collector", /OTEL_EXPORTER_OTLP_HEADERS/, null],
    ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "nowhere", /http or https address/, null],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", /one of http\/protobuf, http\/json/, null],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "http/jsn", /one of/, "http/json"],
    ["OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", /none, gzip/, null],
    ["OTEL_EXPORTER_OTLP_TIMEOUT", "soon", /whole number/, null],
    ["OTEL_TRACES_SAMPLER", "traceid_ratio", /one of/, "traceidratio"],
    ["OTEL_TRACES_SAMPLER_ARG", "1.5", /from 0 to 1/, null],
    ["OTEL_RESOURCE_ATTRIBUTES", "no pairs", /name=value/, null],
    ["OTEL_SDK_DISABLED", "maybe", /true or false/, null],
  ])("%s=%s", (name, value, message, suggestion) => {
    const [problem, ...others] = problemsOf({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, [name]: value } });
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ place: `environment ${name}`, suggestion });
    expect(problem?.message).toMatch(message);
  });

  it("without the headers themselves, which may hold a key", () => {
    const secret = { OTEL_EXPORTER_OTLP_HEADERS: "sk-very-secret" };
    const [problem] = problemsOf({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, ...secret } });
    expect(problem?.message).toMatch(/name=value/);
    expect(JSON.stringify(problem)).not.toContain("secret");
  });

  it.each<readonly [string, Record<string, string>]>([
    ["no endpoint is named", {}],
    ["they are switched off", { OTEL_EXPORTER_OTLP_ENDPOINT: "nowhere", OTEL_SDK_DISABLED: "true" }],
    ["nothing is exported", { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, OTEL_TRACES_EXPORTER: "none" }],
  ])("and stops nothing where %s: it may be there for other programs", (_name, env) => {
    const foreign = { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", OTEL_TRACES_SAMPLER: "jaeger_remote" };
    const { settings, warnings } = goodLoad({ env: { ...foreign, ...env } });
    expect(settings.tracing).toBeNull();
    const places = warnings.map(({ place }) => place);
    expect(places).toEqual(expect.arrayContaining(Object.keys(foreign).map((name) => `environment ${name}`)));
  });

  it("and stops the start where it is our own file's, or something else is wrong too", () => {
    expect(problemsOf({ yaml: "tracing: { protocol: grpc }\n" })).toHaveLength(1);
    const both = problemsOf({ env: { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", PORT: "none" } });
    expect(both.map(({ place }) => place)).toEqual(["environment PORT"]);
  });
});

describe("metrics and logs", () => {
  const exports = (env: Record<string, string>) => {
    const { metricExport, logExport } = goodLoad({ env }).settings;
    return [metricExport?.url ?? null, logExport?.url ?? null];
  };
  const [METRICS, LOGS] = [`${COLLECTOR}/v1/metrics`, `${COLLECTOR}/v1/logs`];

  it.each<readonly [string, Record<string, string>, readonly (string | null)[]]>([
    ["stay here where only an endpoint is set", { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR }, [null, null]],
    [
      "are sent there where they are asked for",
      { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, OTEL_METRICS_EXPORTER: "otlp", OTEL_LOGS_EXPORTER: "otlp" },
      [METRICS, LOGS],
    ],
    ["have nowhere to go without an endpoint", { OTEL_METRICS_EXPORTER: "otlp" }, [null, null]],
    ["are sent where they have an endpoint of their own", { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: LOGS }, [null, LOGS]],
    [
      "are not where their exporter is none",
      { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: METRICS, OTEL_METRICS_EXPORTER: "none" },
      [null, null],
    ],
    ["are off with the switch", { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: LOGS, OTEL_SDK_DISABLED: "true" }, [null, null]],
  ])("%s", (_name, env, expected) => {
    expect(exports(env)).toEqual(expected);
  });

  it("have headers of their own, and an interval", () => {
    const { metricExport, tracing: traces } = goodLoad({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR,
        OTEL_EXPORTER_OTLP_HEADERS: "a=1,b=2",
        OTEL_EXPORTER_OTLP_METRICS_HEADERS: "b=3",
        OTEL_METRICS_EXPORTER: "otlp",
        OTEL_METRIC_EXPORT_INTERVAL: "15000",
      },
    }).settings;
    expect(metricExport).toMatchObject({ headers: { a: "1", b: "3" }, intervalMs: 15_000 });
    expect(traces?.headers).toEqual({ a: "1", b: "2" });
  });

  it("that cannot be read stop the start", () => {
    const env = { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: "collector:4318", OTEL_TRACES_EXPORTER: "otlp" };
    expect(problemsOf({ env }).map(({ place }) => place)).toEqual(["environment OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"]);
  });
});
