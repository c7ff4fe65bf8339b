// The Helm chart. What can be read without rendering is always checked; where there is a helm, it lints and renders, and
// what comes out is looked at.

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Compile } from "typebox/schema";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { optionRows } from "../../../src/config/options/table.ts";

const ROOT = join(import.meta.dirname, "../../..");
const CHART = join(ROOT, "deploy/helm/switchyard");
const read = (path: string): string => readFileSync(join(CHART, path), "utf8");
const TEMPLATES = readdirSync(join(CHART, "templates"), { recursive: true, encoding: "utf8" }).filter((name) =>
  /\.(yaml|tpl|txt)$/.test(name),
);
const templates = Object.fromEntries(TEMPLATES.map((name) => [name, read(join("templates", name))]));
const values = parse(read("values.yaml")) as Values;
const schema = JSON.parse(read("values.schema.json")) as object;

interface Values {
  readonly shutdown: { readonly lameDuckSeconds: number; readonly drainSeconds: number };
  readonly [name: string]: unknown;
}

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

test("its alerts are those of deploy/prometheus", () => {
  const rules = readFileSync(join(ROOT, "deploy/prometheus/switchyard.rules.yaml"), "utf8");
  expect(read("files/switchyard.rules.yaml")).toBe(rules);
});

test.each(TEMPLATES)("%s opens and closes its blocks", (name) => {
  const words = [...(templates[name] ?? "").matchAll(/\{\{-?\s*(if|with|range|define|end)\b/g)].map(([, word]) => word);
  const opened = words.filter((word) => word !== "end").length;
  expect(words.length - opened).toBe(opened);
});

const hasHelm = spawnSync("helm", ["version"]).status === 0;
if (!hasHelm) console.info("the chart is not rendered: there is no helm here; its files were still checked");

describe.runIf(hasHelm)("rendered by helm", () => {
  const postgres = ["--set", "secrets.values.DATABASE_URL=postgres://a:b@c/d"];
  const sqlite = ["--set", "database=sqlite", "--set", "replicaCount=1"];
  const everything = [
    ...postgres,
    ...["--set", "secrets.values.SWITCHYARD_ADMIN_TOKEN=t", "--set", "serviceMonitor.enabled=true"],
    ...["--set", "prometheusRule.enabled=true"],
    ...[
      "--set",
      "ingress.enabled=true",
      "--set",
      "ingress.hosts={gateway.example}",
      "--set",
      "autoscaling.enabled=true",
    ],
  ];

  function helm(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
    return spawnSync("helm", [...args, "--kube-version", "1.30.0"], { encoding: "utf8" });
  }

  function render(...args: readonly string[]): Readonly<Record<string, Manifest>> {
    const { status, stdout, stderr } = helm("template", "release", CHART, ...args);
    expect(status, stderr).toBe(0);
    const manifests = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
    return Object.fromEntries(manifests.map((manifest) => [manifest.kind, manifest]));
  }

  test.each([
    ["PostgreSQL", postgres],
    ["SQLite", sqlite],
    ["everything on", everything],
  ])("it lints with %s", (_name, args) => {
    const { status, stdout } = helm("lint", "--strict", CHART, ...args);
    expect(status, stdout).toBe(0);
  });

  test("what each choice brings along", () => {
    const always = ["ConfigMap", "Deployment", "Pod", "Secret", "Service", "ServiceAccount"];
    expect(Object.keys(render(...postgres)).sort()).toEqual([...always, "PodDisruptionBudget"].sort());
    expect(Object.keys(render(...sqlite)).sort()).toEqual([...always, "PersistentVolumeClaim"].sort());
    const more = ["HorizontalPodAutoscaler", "Ingress", "PodDisruptionBudget", "PrometheusRule", "ServiceMonitor"];
    expect(Object.keys(render(...everything)).sort()).toEqual([...always, ...more].sort());
    const existing = render("--set", "secrets.existingSecret=mine");
    expect(existing).not.toHaveProperty("Secret");
    expect(existing.Deployment?.spec.template.spec.containers[0]).toMatchObject({
      envFrom: [{ secretRef: { name: "mine" } }],
    });
  });

  test("a pod lives long enough to finish, is probed where it answers, and may do little", () => {
    const { template, strategy } = render(...postgres).Deployment!.spec;
    const { lameDuckSeconds, drainSeconds } = values.shutdown;
    expect(template.spec.terminationGracePeriodSeconds).toBe(lameDuckSeconds + drainSeconds + 15);
    expect(template.spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(template.spec.containers[0]).toMatchObject({
      securityContext: {
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
      },
      livenessProbe: { httpGet: { path: "/healthz" } },
      readinessProbe: { httpGet: { path: "/readyz" } },
    });
    expect(strategy).toMatchObject({ type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0 } });
    expect(render(...sqlite).Deployment!.spec.strategy).toEqual({ type: "Recreate" });
  });

  test("the dashboard may be opened under the names of the service and the ingress", () => {
    const { containers } = render(...everything, "--set", "publicUrl=https://llm.example.com").Deployment!.spec.template
      .spec;
    const env = (containers[0] as { env: { name: string; value: string }[] }).env;
    expect(env).toContainEqual({ name: "SWITCHYARD_PUBLIC_URL", value: "https://llm.example.com" });
    const hosts = env.find(({ name }) => name === "SWITCHYARD_ALLOWED_HOSTS")?.value.split(",");
    expect(hosts?.[0]).toBe("release-switchyard");
    expect(hosts).toContain("release-switchyard.default.svc.cluster.local");
    expect(hosts).toContain("gateway.example");
  });

  test("the pod that tests a release runs words, not objects", () => {
    const { args = [], command = [] } = render(...postgres).Pod!.spec.containers![0]!;
    expect([...command, ...args].map((word) => typeof word)).toEqual(Array(4).fill("string"));
    expect(args[1]).toBe("http://release-switchyard:80/readyz");
  });

  test.each([
    ["PostgreSQL without an address", [], /needs DATABASE_URL/],
    ["SQLite for two", ["--set", "database=sqlite"], /belongs to one process/],
    ["SQLite that scales", [...sqlite, "--set", "autoscaling.enabled=true"], /belongs to one process/],
    ["metrics without a token", [...postgres, "--set", "serviceMonitor.enabled=true"], /needs the admin token/],
    ["a value that nobody knows", [...postgres, "--set", "replicas=3"], /additional properties 'replicas' not allowed/],
  ])("%s is refused with words that help", (_name, args, words) => {
    const { status, stderr } = helm("template", "release", CHART, ...args);
    expect(status).not.toBe(0);
    expect(stderr).toMatch(words);
  });
});

interface Manifest {
  readonly kind: string;
  readonly spec: {
    readonly containers?: readonly { readonly args?: readonly unknown[]; readonly command?: readonly unknown[] }[];
    readonly strategy: object;
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: object;
        readonly containers: readonly object[];
      };
    };
  };
}

function hasPath(value: unknown, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return true;
  if (typeof value !== "object" || value === null || !(first in value)) return false;
  return hasPath((value as Record<string, unknown>)[first], rest);
}
