// Every example, with a stand-in for what needs an account: its own files are what the gateway starts with.

import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { load } from "../../src/config/load.ts";
import { HELLO, startGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { startIdentityServer } from "../support/identity/identity-server.ts";
import { answers, type FakeProvider, startFakeProvider } from "../support/providers/fake-provider.ts";

const ROOT = join(import.meta.dirname, "../..");
const EXAMPLES = join(ROOT, "examples");
const read = (path: string): string => readFileSync(join(EXAMPLES, path), "utf8");
const run = promisify(execFile);

async function started(yaml: string, env: Record<string, string> = {}): Promise<TestGateway> {
  const gateway = await startGateway({ yaml, env, creditsUsd: null });
  onTestFinished(() => gateway.stop());
  return gateway;
}

async function provider(): Promise<FakeProvider> {
  const fake = await startFakeProvider(answers("ok"));
  onTestFinished(() => fake.close());
  return fake;
}

const ask = (gateway: TestGateway, headers: Record<string, string> = {}): Promise<Response> =>
  gateway.post("/v1/chat/completions", HELLO, headers);

test("every example has a page, and the list names each", () => {
  const folders = readdirSync(EXAMPLES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const list = read("README.md");
  for (const { name } of folders) {
    expect(existsSync(join(EXAMPLES, name, "README.md")), name).toBe(true);
    expect(list).toContain(`(${name}/)`);
    // A test below runs it.
    expect(readFileSync(import.meta.filename, "utf8")).toContain(`"${name}/`);
  }
});

test("Open WebUI: each person has the budget for themselves", async () => {
  const gateway = await started(read("open-webui/switchyard.yaml"));
  const budget = { ...JSON.parse(read("open-webui/budget.json")), amountUsd: "0.000001" };
  expect((await gateway.api("POST", "/api/budgets", JSON.parse(read("open-webui/budget.json")))).status).toBe(201);
  const by = (name: string): Promise<Response> => ask(gateway, { "x-openwebui-user-email": `${name}@example.com` });
  expect((await by("ada")).status).toBe(200);
  expect((await gateway.api("POST", "/api/budgets", { ...budget, name: "Ada", value: "ada@example.com" })).status).toBe(
    201,
  );
  expect((await by("ada")).status).toBe(402);
  expect((await by("grace")).status).toBe(200);
  const { services } = parse(read("open-webui/compose.yaml"));
  expect(services["open-webui"].environment.OPENAI_API_BASE_URL).toBe("http://switchyard:8787/v1");
});

test.each([
  ["claude-code-team/switchyard.yaml", "COMPANY_ISSUER", { groups: ["engineering"] }, { groups: ["sales"] }],
  ["github-actions/switchyard.yaml", "GITHUB_ISSUER", { repository: "acme/site" }, { repository: "other/site" }],
])("%s takes tokens of the right people alone", async (path, variable, ours, others) => {
  const idp = await startIdentityServer();
  onTestFinished(() => idp.close());
  const gateway = await started(read(path), { [variable]: idp.issuer });
  await idp.open(gateway.url, Object.keys(parse(read(path).replaceAll("${", "$")).identityProviders)[0]);
  const { identityProviders } = parse(read(path).replaceAll(/"?\$\{[^}]*\}"?/g, "switchyard-api"));
  const [{ audiences }] = Object.values<{ audiences: string[] }>(identityProviders) as [{ audiences: string[] }];
  const as = async (claims: object): Promise<number> => {
    const authorization = `Bearer ${await idp.token({ aud: audiences[0] as string, sub: JSON.stringify(claims), ...claims })}`;
    return (await gateway.post("/v1/messages", { ...HELLO, max_tokens: 20 }, { authorization })).status;
  };
  expect(await as(ours)).toBe(200);
  expect([401, 403]).toContain(await as(others));
});

test("Claude Code: the settings call the gateway with the token of login", () => {
  const { apiKeyHelper, env } = JSON.parse(read("claude-code-team/claude-settings.json"));
  expect(apiKeyHelper).toBe(`switchyard login --url ${env.ANTHROPIC_BASE_URL}`);
  expect(JSON.parse(read("claude-code-team/budget.json"))).toMatchObject({ scope: "key" });
});

test("GitHub Actions: the job may ask for a token of the audience that the gateway takes", () => {
  const { permissions, jobs } = parse(read("github-actions/workflow.yml"));
  expect(permissions["id-token"]).toBe("write");
  expect(JSON.stringify(jobs)).toContain("audience=switchyard");
  expect(read("github-actions/switchyard.yaml")).toContain("audiences: [switchyard]");
});

test("Bedrock only: every model is there, in one region, and nothing else is called", async () => {
  const cloud = await provider();
  const env = { AWS_REGION: "eu-central-1", AWS_ACCESS_KEY_ID: "AKIAEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret" };
  const document = parse(read("bedrock-only/switchyard.yaml").replace(/\$\{AWS_REGION\}/g, env.AWS_REGION));
  for (const id of Object.keys(document.providers)) {
    document.providers[id].baseUrl = cloud.url;
    document.providers[id].apiKey = "bedrock-api-key";
  }
  const gateway = await started(stringify(document), env);
  expect((await ask(gateway)).status).toBe(200);
  expect(cloud.requests.map(({ body }) => body.model)).toEqual(["openai.gpt-oss-120b-1:0"]);
  const loaded = load({
    flags: {},
    env,
    cwd: "/",
    file: { text: read("bedrock-only/switchyard.yaml"), day: "2026-11-19" },
  });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const addresses = [...loaded.settings.catalog.providers.values()].map(({ baseUrl }) => new URL(baseUrl).hostname);
  expect(addresses).toEqual(["bedrock-runtime.eu-central-1.amazonaws.com", "bedrock-mantle.eu-central-1.api.aws"]);
});

test("air-gapped: short and hard questions go to Ollama, and no other address is known", async () => {
  const ollama = await provider();
  const env = { OLLAMA_URL: ollama.url };
  const gateway = await started(read("air-gapped/switchyard.yaml"), { ...env, SWITCHYARD_PRICES_CHECK: "" });
  expect((await ask(gateway)).status).toBe(200);
  const hard = { ...HELLO, service_profile: "tier", service_tier: "COMPLEX" };
  expect((await gateway.post("/v1/chat/completions", hard)).status).toBe(200);
  expect(ollama.requests.map(({ body }) => body.model)).toEqual(["qwen3:4b", "qwen3:32b"]);
  const loaded = load({
    flags: {},
    env,
    cwd: "/",
    file: { text: read("air-gapped/switchyard.yaml"), day: "2026-11-19" },
  });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  expect([...loaded.settings.catalog.providers.keys()]).toEqual(["ollama"]);
});

test("Kubernetes: values are the chart's, and names and ports fit each other", () => {
  const values = parse(read("kubernetes/values.yaml"));
  const known = parse(readFileSync(join(ROOT, "deploy/helm/switchyard/values.yaml"), "utf8"));
  expect(Object.keys(values).filter((key) => !(key in known))).toEqual([]);
  const secret = parse(read("kubernetes/secret.yaml"));
  expect(secret.metadata.name).toBe(values.secrets.existingSecret);
  const documents = parseAllDocuments(read("kubernetes/databases.yaml")).map((each) => each.toJS());
  const services = documents.filter(({ kind }) => kind === "Service");
  const ports = new Map(services.map(({ metadata, spec }) => [metadata.name, spec.ports[0].port]));
  for (const name of ["DATABASE_URL", "REDIS_URL"]) {
    const { hostname, port } = new URL(secret.stringData[name]);
    expect(ports.get(hostname)).toBe(Number(port));
  }
  for (const { metadata, spec } of services) {
    const pods = documents.filter(({ kind, metadata: { name } }) => kind !== "Service" && name === metadata.name);
    expect(pods.map((each) => [each.spec.selector.matchLabels, each.spec.template.metadata.labels])).toEqual([
      [spec.selector, spec.selector],
    ]);
    const [{ spec: pod }] = pods as [(typeof documents)[number]];
    const [container] = pod.template.spec.containers;
    expect(container.ports.map((port: { containerPort: number }) => port.containerPort)).toEqual([spec.ports[0].port]);
    const claims = (pod.volumeClaimTemplates ?? []).map((claim: { metadata: { name: string } }) => claim.metadata.name);
    expect((container.volumeMounts ?? []).map((mount: { name: string }) => mount.name)).toEqual(claims);
    expect(container.image).toMatch(/^\w+:\d+$/);
  }
  const text = stringify(values.config);
  const loaded = load({ flags: {}, env: secret.stringData, cwd: "/", file: { text, day: "2026-11-19" } });
  expect(loaded.ok || loaded.problems).toBe(true);
});

test("the batch evaluation prints a line for each tier and leaves feedback", async () => {
  const gateway = await startGateway();
  onTestFinished(() => gateway.stop());
  const script = join(EXAMPLES, "batch-evaluation/evaluate.mjs");
  const env = { ...process.env, SWITCHYARD_URL: gateway.url, SWITCHYARD_KEY: gateway.key };
  const { stdout } = await run(process.execPath, [script], { env });
  const cases = read("batch-evaluation/prompts.jsonl").trim().split("\n").length;
  expect(stdout.trim().split("\n")).toEqual([
    expect.stringMatching(new RegExp(`^NANO +\\d/${cases} right +\\$0\\.\\d+ `)),
    expect.stringMatching(new RegExp(`^STANDARD +\\d/${cases} right +\\$0\\.\\d+ `)),
  ]);
});

test("templates have the port, the path and the volume of the image", () => {
  const dockerfile = readFileSync(join(ROOT, "Dockerfile"), "utf8");
  const [, port = ""] = /^EXPOSE (\d+)$/m.exec(dockerfile) ?? [];
  const [, volume = ""] = /SWITCHYARD_DATA=(\S+)$/m.exec(dockerfile) ?? [];
  const [, path = ""] = /127\.0\.0\.1:\$\{process\.env\.PORT\}(\/\w+)/.exec(dockerfile) ?? [];
  const template = (name: string): string => readFileSync(join(ROOT, "deploy/templates", name), "utf8");
  const railway = JSON.parse(template("railway.json")).deploy;
  expect([railway.healthcheckPath, railway.requiredMountPath]).toEqual([path, volume]);
  const [render] = parse(template("render.yaml")).services;
  expect([render.healthCheckPath, render.disk.mountPath]).toEqual([path, volume]);
  expect(render.envVars).toContainEqual({ key: "PORT", value: port });
  const fly = template("fly.toml");
  for (const line of [`internal_port = ${port}`, `destination = "${volume}"`, `path = "${path}"`])
    expect(fly).toContain(line);
  const { services } = parse(template("coolify.yaml"));
  expect(services.switchyard.volumes).toEqual([`data:${volume}`]);
  expect(Object.keys(services.switchyard.environment)).toContain(`SERVICE_URL_SWITCHYARD_${port}`);
});

// Read 2026-11-19: docs.railway.com/reference/dockerfiles and /volumes, render.com/docs/blueprint-spec and
// fly.io/docs/reference/configuration. What a platform refuses at once is worth more than what it ignores.
test("templates keep to what their platforms refuse to build or to start", () => {
  const dockerfile = readFileSync(join(ROOT, "Dockerfile"), "utf8");
  const template = (name: string): string => readFileSync(join(ROOT, "deploy/templates", name), "utf8");
  const fieldsOf = (value: object): readonly string[] => Object.keys(value).sort();
  // Railway: "docker VOLUME at Line N is not supported, use Railway Volumes".
  expect(dockerfile).not.toMatch(/^VOLUME/m);
  const { build, deploy } = JSON.parse(template("railway.json"));
  expect([fieldsOf(build), build.builder]).toEqual([["builder", "dockerfilePath"], "DOCKERFILE"]);
  const railway = [
    "drainingSeconds",
    "healthcheckPath",
    "healthcheckTimeout",
    "requiredMountPath",
    "restartPolicyType",
  ];
  expect(fieldsOf(deploy)).toEqual(railway);
  // Render: "max shutdown delay is not supported for services with a disk", so it is 30 s, of which 5 s are ours.
  const [render] = parse(template("render.yaml")).services;
  expect(fieldsOf(render)).not.toContain("maxShutdownDelaySeconds");
  const variable = (key: string): string => render.envVars.find((each: { key: string }) => each.key === key)?.value;
  expect(Number(variable("SWITCHYARD_DRAIN_SECONDS"))).toBeLessThanOrEqual(20);
  // Volumes of Render and Fly belong to root.
  expect(dockerfile).toMatch(/^ARG RUN_AS=1000:1000\nUSER \$\{RUN_AS\}$/m);
  const fly = template("fly.toml");
  expect(variable("RUN_AS")).toBe("0:0");
  expect(fly).toMatch(/^\[build\.args\]\n#.*\nRUN_AS = "0:0"$/m);
  expect(Number(/^kill_timeout = (\d+)$/m.exec(fly)?.[1])).toBeLessThanOrEqual(300);
  const [, path = ""] = /^dockerfile = "(.*)"$/m.exec(fly) ?? [];
  expect(existsSync(join(ROOT, "deploy/templates", path))).toBe(true);
});
