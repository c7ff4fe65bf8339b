// What is shipped for deployment, checked by the tools that will read it: helm, kubeconform, promtool, docker compose or
// check-jsonschema, hadolint and nginx. A tool that is not on the PATH is skipped with a line; chart.test.ts and
// compose.test.ts check the same files without any.

import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";

const ROOT = join(import.meta.dirname, "../../..");
const DEPLOY = join(ROOT, "deploy");
const CHART = join(DEPLOY, "helm/switchyard");
const WORKFLOWS = join(ROOT, ".github/workflows");
const COMPOSE_FILES = readdirSync(DEPLOY).filter((name) => /^compose\..*yaml$/.test(name));

interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

function run(
  tool: string,
  args: readonly string[],
  { input = "", env = {} }: RunOptions = {},
): SpawnSyncReturns<string> {
  return spawnSync(tool, args, { input, encoding: "utf8", env: { ...process.env, ...env } });
}

function expectSuccess({ status, stdout, stderr }: SpawnSyncReturns<string>): void {
  expect(status, stdout + stderr).toBe(0);
}

/** Whether a tool answers; says what is skipped where it does not. */
function has(tool: string, args: readonly string[], skipped: string): boolean {
  const isThere = run(tool, args).status === 0;
  if (!isThere) console.warn(`${skipped}: there is no '${tool} ${args.join(" ")}' here`);
  return isThere;
}

const set = (...values: readonly string[]): readonly string[] => values.flatMap((value) => ["--set", value]);
const DATABASE = set("secrets.values.DATABASE_URL=postgres://a:b@c/d");
const POSTGRES = [...DATABASE, ...set("secrets.values.SWITCHYARD_SECRET=s")];
const SQLITE = set("database=sqlite", "replicaCount=1");
const INGRESS = set(
  ...["ingress.enabled=true", "ingress.className=nginx", "ingress.hosts={gateway.example}"],
  ...["ingress.tls[0].secretName=certificate", "ingress.tls[0].hosts={gateway.example}"],
);
const EVERYTHING = [
  ...POSTGRES,
  ...INGRESS,
  ...set("secrets.values.SWITCHYARD_ADMIN_TOKEN=t", "serviceMonitor.enabled=true", "prometheusRule.enabled=true"),
  ...set("autoscaling.enabled=true", "publicUrl=https://llm.example.com", "env[0].name=TZ", "env[0].value=UTC"),
  ...set("networkPolicy.from[0].namespaceSelector.matchLabels.team=a", "networkPolicy.egress[0].ports[0].port=443"),
  ...set("imagePullSecrets[0].name=registry", "tolerations[0].operator=Exists", "nodeSelector.pool=gateways"),
];
const VARIANTS: readonly (readonly [string, readonly string[]])[] = [
  ["PostgreSQL", POSTGRES],
  ["PostgreSQL with one pod", [...POSTGRES, ...set("replicaCount=1")]],
  ["PostgreSQL with five pods behind an ingress", [...POSTGRES, ...INGRESS, ...set("replicaCount=5")]],
  ["a Secret and a service account that exist", set("secrets.existingSecret=mine", "serviceAccount.create=false")],
  ["SQLite with a volume", [...SQLITE, ...set("persistence.storageClass=fast", "persistence.size=20Gi")]],
  ["SQLite with a claim that exists", [...SQLITE, ...set("persistence.existingClaim=mine")]],
  ["everything on", EVERYTHING],
];

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
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

const hasHelm = has("helm", ["version"], "the chart is not rendered");

describe.runIf(hasHelm)("the chart, rendered by helm", () => {
  const helm = (...args: readonly string[]) => run("helm", [...args, "--kube-version", "1.30.0"]);

  function renderText(args: readonly string[]): string {
    const rendered = helm("template", "release", CHART, ...args);
    expectSuccess(rendered);
    return rendered.stdout;
  }

  function render(...args: readonly string[]): Readonly<Record<string, Manifest>> {
    const documents = parseAllDocuments(renderText(args));
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    const manifests = documents.map((document) => document.toJS() as Manifest);
    return Object.fromEntries(manifests.map((manifest) => [manifest.kind, manifest]));
  }

  test.each(VARIANTS)("it lints with %s", (_name, args) => expectSuccess(helm("lint", "--strict", CHART, ...args)));

  test("it lints as the release workflow calls it", () => expectSuccess(helm("lint", "--strict", CHART)));

  test.each(VARIANTS)("every manifest of %s says what it is and what it is called", (_name, args) => {
    const manifests = Object.values(render(...args));
    expect(manifests.length).toBeGreaterThan(4);
    for (const { apiVersion, kind, metadata } of manifests) {
      expect(`${apiVersion} ${kind} ${metadata.name}`).toMatch(/^[a-z0-9./]+ [A-Z]\w+ release-switchyard(-test)?$/);
    }
  });

  const schemas = process.env.KUBERNETES_SCHEMAS;
  const hasKubeconform = has("kubeconform", ["-v"], "manifests are not compared with the schemas of Kubernetes");
  if (hasKubeconform && schemas === undefined) {
    console.warn(
      "manifests are not compared with the schemas of Kubernetes: KUBERNETES_SCHEMAS does not say where they are",
    );
  }

  test.runIf(hasKubeconform && schemas !== undefined).each(VARIANTS)(
    "%s fits the schemas of Kubernetes",
    (_name, args) => {
      const flags = ["-strict", "-verbose", "-schema-location", schemas ?? ""];
      expectSuccess(run("kubeconform", [...flags, "-"], { input: renderText(args) }));
    },
  );

  test("what each choice brings along", () => {
    const always = ["ConfigMap", "Deployment", "NetworkPolicy", "Pod", "Secret", "Service", "ServiceAccount"];
    expect(Object.keys(render(...POSTGRES)).sort()).toEqual([...always, "PodDisruptionBudget"].sort());
    expect(Object.keys(render(...SQLITE)).sort()).toEqual([...always, "PersistentVolumeClaim"].sort());
    const more = ["HorizontalPodAutoscaler", "Ingress", "PodDisruptionBudget", "PrometheusRule", "ServiceMonitor"];
    expect(Object.keys(render(...EVERYTHING)).sort()).toEqual([...always, ...more].sort());
    const existing = render("--set", "secrets.existingSecret=mine");
    expect(existing).not.toHaveProperty("Secret");
    expect(existing.Deployment?.spec.template.spec.containers[0]).toMatchObject({
      envFrom: [{ secretRef: { name: "mine" } }],
    });
  });

  test("a pod lives long enough to finish, is probed where it answers, and may do little", () => {
    const { template, strategy } = render(...POSTGRES).Deployment!.spec;
    const { shutdown } = parse(readFileSync(join(CHART, "values.yaml"), "utf8")) as {
      shutdown: { lameDuckSeconds: number; drainSeconds: number };
    };
    expect(template.spec.terminationGracePeriodSeconds).toBe(shutdown.lameDuckSeconds + shutdown.drainSeconds + 15);
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
    expect(render(...SQLITE).Deployment!.spec.strategy).toEqual({ type: "Recreate" });
  });

  test("the dashboard may be opened under the names of the service and the ingress", () => {
    const { containers } = render(...EVERYTHING).Deployment!.spec.template.spec;
    const env = (containers[0] as { env: { name: string; value: string }[] }).env;
    expect(env).toContainEqual({ name: "SWITCHYARD_PUBLIC_URL", value: "https://llm.example.com" });
    const hosts = env.find(({ name }) => name === "SWITCHYARD_ALLOWED_HOSTS")?.value.split(",");
    expect(hosts?.[0]).toBe("release-switchyard");
    expect(hosts).toContain("release-switchyard.default.svc.cluster.local");
    expect(hosts).toContain("gateway.example");
  });

  test("the pod that tests a release runs words, not objects", () => {
    const { args = [], command = [] } = render(...POSTGRES).Pod!.spec.containers![0]!;
    expect([...command, ...args].map((word) => typeof word)).toEqual(Array(4).fill("string"));
    expect(args[1]).toBe("http://release-switchyard:80/readyz");
  });

  test.each([
    ["PostgreSQL without an address", [], /needs DATABASE_URL/],
    ["PostgreSQL without a secret", DATABASE, /needs SWITCHYARD_SECRET/],
    ["SQLite for two", set("database=sqlite"), /belongs to one process/],
    ["SQLite that scales", [...SQLITE, ...set("autoscaling.enabled=true")], /belongs to one process/],
    ["metrics without a token", [...POSTGRES, ...set("serviceMonitor.enabled=true")], /needs the admin token/],
    ["a value that nobody knows", [...POSTGRES, ...set("replicas=3")], /additional propert.*replicas.* not allowed/i],
  ])("%s is refused with words that help", (_name, args, words) => {
    const { status, stderr } = helm("template", "release", CHART, ...args);
    expect(status).not.toBe(0);
    expect(stderr).toMatch(words);
  });
});

describe.runIf(has("promtool", ["--version"], "alerts are not checked by Prometheus"))("the alerts", () => {
  test("are rules that Prometheus loads", () => {
    expectSuccess(run("promtool", ["check", "rules", join(DEPLOY, "prometheus/switchyard.rules.yaml")]));
  });
});

describe.runIf(has("hadolint", ["--version"], "the Dockerfile is not linted"))("the Dockerfile", () => {
  test("has nothing that hadolint warns of", () => expectSuccess(run("hadolint", [join(ROOT, "Dockerfile")])));
});

const hasCompose = has("docker", ["compose", "version"], "compose files are not read by docker compose");
describe.runIf(hasCompose).each(COMPOSE_FILES)("%s", (file) => {
  test("is read by docker compose", () => {
    const env = { POSTGRES_PASSWORD: "p", SWITCHYARD_ADMIN_TOKEN: "t" };
    expectSuccess(run("docker", ["compose", "--file", join(DEPLOY, file), "config", "--quiet"], { env }));
  });
});

const hasSchemas = has("check-jsonschema", ["--version"], "compose files and workflows are not compared with schemas");
describe.runIf(hasSchemas)("files with a published schema", () => {
  test.each([
    ["compose files", "compose-spec", COMPOSE_FILES.map((name) => join(DEPLOY, name))],
    ["workflows", "github-workflows", readdirSync(WORKFLOWS).map((name) => join(WORKFLOWS, name))],
  ])("%s fit it", (_name, schema, files) => {
    expect(files.length).toBeGreaterThan(1);
    expectSuccess(run("check-jsonschema", ["--builtin-schema", `vendor.${schema}`, ...files]));
  });
});

describe("nginx.conf", () => {
  /** The first one with `resolve` in an upstream. */
  const NEEDED = 1_027_003;
  const written = /nginx\/(\d+)\.(\d+)\.(\d+)/.exec(run("nginx", ["-v"]).stderr ?? "");
  const [major = 0, minor = 0, patch = 0] = (written ?? []).slice(1).map(Number);
  const isNewEnough = major * 1_000_000 + minor * 1000 + patch >= NEEDED;
  if (!isNewEnough) {
    console.warn(`nginx.conf is not read by nginx: ${written?.[0] ?? "there is none here"}, it needs 1.27.3 or newer`);
  }

  test.runIf(isNewEnough)("is read by nginx", () => {
    const folder = mkdtempSync(join(tmpdir(), "switchyard-nginx-"));
    try {
      // Packages compile in folders that only their installation has.
      const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${folder};`,
      );
      const own = [...folders, `access_log ${folder}/access.log;`].join(" ");
      const text = readFileSync(join(DEPLOY, "nginx.conf"), "utf8").replace(/^http \{$/m, `$& ${own}`);
      const file = join(folder, "nginx.conf");
      writeFileSync(file, text);
      expectSuccess(run("nginx", ["-t", "-e", "stderr", "-p", folder, "-c", file, "-g", `pid ${folder}/nginx.pid;`]));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
