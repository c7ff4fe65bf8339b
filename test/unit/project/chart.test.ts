// The Helm chart, as far as it can be read without rendering it. deploy-tools.test.ts renders it.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Compile } from "typebox/schema";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { optionRows } from "../../../src/config/options/table.ts";

const ROOT = join(import.meta.dirname, "../../..");
const CHART = join(ROOT, "deploy/helm/switchyard");
const read = (path: string): string => readFileSync(join(CHART, path), "utf8");
const TEMPLATES = readdirSync(join(CHART, "templates"), { recursive: true, encoding: "utf8" }).filter((name) =>
  /\.(yaml|tpl|txt)$/.test(name),
);
const templates = Object.fromEntries(TEMPLATES.map((name) => [name, read(join("templates", name))]));
const values = parse(read("values.yaml")) as Readonly<Record<string, unknown>>;
const schema = JSON.parse(read("values.schema.json")) as object;

describe("values", () => {
  const check = Compile(schema);

  test("the defaults fit the schema", () => {
    expect(check.Check(values)).toBe(true);
  });

  test.each<readonly [string, object]>([
    ["an unknown value", { replicas: 3 }],
    ["an unknown value further in", { image: { ...(values.image as object), name: "x" } }],
    ["a number that is text", { replicaCount: "3" }],
    ["a database of another kind", { database: "mysql" }],
    ["a secret that is no variable", { secrets: { existingSecret: "", values: { "database-url": "x" } } }],
    ["a secret that is no text", { secrets: { existingSecret: "", values: { PORT: 1 } } }],
    ["a public address with a path", { publicUrl: "https://llm.example.com/path" }],
    ["a port out of range", { service: { type: "ClusterIP", port: 70_000, annotations: {} } }],
  ])("%s is refused", (_name, change) => {
    expect(check.Check({ ...values, ...change })).toBe(false);
  });

  test("every value that a template takes has a default, and every default is taken", () => {
    const taken = new Set(
      Object.values(templates).flatMap((text) =>
        [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path]) => path ?? ""),
      ),
    );
    const missing = [...taken].filter((path) => !hasPath(values, path.split(".")));
    expect(missing).toEqual([]);
    expect(Object.keys(values).filter((name) => ![...taken].some((path) => path.split(".")[0] === name))).toEqual([]);
  });
});

test("the chart is of this version", () => {
  const chart = parse(read("Chart.yaml")) as Record<string, string>;
  expect(chart.appVersion).toBe(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version);
  expect(chart.apiVersion).toBe("v2");
});

test("the deployment sets variables that the gateway knows", () => {
  const known = optionRows().map(({ env }) => env ?? "");
  const named = [...(templates["deployment.yaml"] ?? "").matchAll(/- \{ name: ([A-Z_]+), value/g)].map(
    ([, name]) => name ?? "",
  );
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});

test("PostgreSQL needs the one secret of all pods", () => {
  expect(templates["_helpers.tpl"]).toMatch(
    /if and \(not \$isSqlite\).*"SWITCHYARD_SECRET".*\n.*fail "database: postgres needs SWITCHYARD_SECRET/,
  );
  const deployment = templates["deployment.yaml"] ?? "";
  expect(deployment).toMatch(/name: SWITCHYARD_SECRET\n +valueFrom: \{ secretKeyRef: .*, key: SWITCHYARD_SECRET \} \}/);
});

test("a network policy lets connections in at the gateway's port alone", () => {
  const policy = templates["networkpolicy.yaml"] ?? "";
  expect(policy).toMatch(/ingress:\n +- ports:\n +- \{ port: http, protocol: TCP \}\n/);
  expect(policy).toMatch(/if \.Values\.networkPolicy\.egress \}\}\n +- Egress\n/);
  expect(values.networkPolicy).toEqual({ enabled: true, from: [], egress: [] });
});

test("its alerts are those of deploy/prometheus", () => {
  const rules = readFileSync(join(ROOT, "deploy/prometheus/switchyard.rules.yaml"), "utf8");
  expect(read("files/switchyard.rules.yaml")).toBe(rules);
});

test.each(TEMPLATES)("%s opens and closes its blocks", (name) => {
  const words = [...(templates[name] ?? "").matchAll(/\{\{-?\s*(if|with|range|define|end)\b/g)].map(([, word]) => word);
  const opened = words.filter((word) => word !== "end").length;
  expect(words.length - opened).toBe(opened);
});

function hasPath(value: unknown, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return true;
  if (typeof value !== "object" || value === null || !(first in value)) return false;
  return hasPath((value as Record<string, unknown>)[first], rest);
}
