// The compose files, checked without an engine: their shape, that every name in them leads somewhere, and that what they
// set are settings of this gateway.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readBuiltin } from "../../../src/catalog/builtin.ts";
import { LAME_DUCK_SECONDS } from "../../../src/config/options/server.ts";
import { OPTIONS, optionRows } from "../../../src/config/options/table.ts";

const DEPLOY = join(import.meta.dirname, "../../../deploy");

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
  readonly [field: string]: unknown;
}

interface Compose {
  readonly name: string;
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

const TOP_LEVEL = ["name", "services", "networks", "volumes", "secrets", "configs"];
const SERVICE_FIELDS = [
  ...["image", "build", "command", "restart", "deploy", "environment", "ports", "volumes", "depends_on", "healthcheck"],
  ...["stop_grace_period", "stop_signal", "read_only", "tmpfs", "cap_drop", "security_opt", "ulimits", "logging"],
];
/** The image of ours brings its own health check. */
const isOurs = ({ build }: Service): boolean => build !== undefined;

describe.each(["compose.yaml", "compose.scaled.yaml"])("%s", (file) => {
  const compose = parse(readFileSync(join(DEPLOY, file), "utf8")) as Compose;
  const services = Object.entries(compose.services);

  test("has fields that compose knows", () => {
    expect(Object.keys(compose).filter((name) => !TOP_LEVEL.includes(name))).toEqual([]);
    for (const [name, service] of services) {
      expect(
        Object.keys(service).filter((field) => !SERVICE_FIELDS.includes(field)),
        name,
      ).toEqual([]);
    }
  });

  test.each(services)("%s is an image with a version, or one that is built here", (_name, service) => {
    if (isOurs(service)) expect(existsSync(join(DEPLOY, service.build as string, "Dockerfile"))).toBe(true);
    else expect(service.image).toMatch(/^[\w./-]+:\d[\w.-]*$/);
  });

  test.each(services)("%s mounts volumes that are declared and files that exist", (_name, service) => {
    for (const volume of service.volumes ?? []) {
      const [source = "", target = ""] = volume.split(":");
      if (source.startsWith(".")) expect(existsSync(join(DEPLOY, source)), source).toBe(true);
      else expect(Object.keys(compose.volumes ?? {})).toContain(source);
      expect(target).toMatch(/^\//);
    }
  });

  test.each(services)("%s is reachable from this machine only", (_name, service) => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  test.each(services)("%s waits for services that can be well", (_name, service) => {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      const needed = compose.services[other];
      expect(needed, other).toBeDefined();
      expect(condition).toBe("service_healthy");
      expect(isOurs(needed as Service) || needed?.healthcheck !== undefined, `${other} has a health check`).toBe(true);
    }
  });

  const gateways = services.filter(([, service]) => isOurs(service));
  const known = new Set([
    ...optionRows().flatMap(({ env }) => (env === undefined ? [] : [env])),
    ...readBuiltin().providers.map(({ keyVariable }) => keyVariable),
  ]);

  test.each(gateways)("%s is given variables that the gateway knows", (_name, { environment = {} }) => {
    expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
    expect(environment).not.toHaveProperty("HOST");
  });

  test.each(gateways)("%s is passed every provider key, and the proxies to trust", (_name, { environment = {} }) => {
    for (const { keyVariable } of readBuiltin().providers) expect(environment).toHaveProperty(keyVariable, null);
    expect(environment).toHaveProperty("SWITCHYARD_PUBLIC_URL", null);
    expect(environment).toHaveProperty("SWITCHYARD_TRUSTED_PROXIES");
  });

  test.each(gateways)("%s has the time to finish that it was promised", (_name, service) => {
    const { environment = {}, stop_grace_period: grace = "10s" } = service;
    const seconds = (name: string, fallback: number): number => Number(environment[name] ?? fallback);
    const promised =
      seconds("SWITCHYARD_LAME_DUCK_SECONDS", LAME_DUCK_SECONDS) +
      seconds("SWITCHYARD_DRAIN_SECONDS", OPTIONS.server.drainSeconds.default);
    expect(Number(/^(\d+)s$/.exec(grace)?.[1])).toBeGreaterThanOrEqual(promised + 15);
  });

  test.each(gateways)("%s cannot do more than it needs", (_name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      restart: "unless-stopped",
    });
    expect(service.volumes?.some((volume) => volume.endsWith(":/data"))).toBe(true);
  });
});

describe("nginx.conf", () => {
  const text = readFileSync(join(DEPLOY, "nginx.conf"), "utf8").replace(/#.*$/gm, "");
  const directive = (name: string): string => new RegExp(`^\\s*${name} ([^;]+);$`, "m").exec(text)?.[1] ?? "";

  test("is well formed: every directive ends, every block closes", () => {
    let depth = 0;
    for (const line of text.split("\n").map((one) => one.trim())) {
      if (line === "") continue;
      expect(line).toMatch(/[;{}]$/);
      if (line.endsWith("{")) depth += 1;
      if (line === "}") depth -= 1;
      expect(depth).toBeGreaterThanOrEqual(0);
    }
    expect(depth).toBe(0);
  });

  test("holds no event back and sends no request twice", () => {
    expect(directive("proxy_buffering")).toBe("off");
    expect(directive("proxy_http_version")).toBe("1.1");
    expect(directive("proxy_next_upstream")).toBe("error timeout");
    expect(text).not.toContain("non_idempotent");
  });

  test("closes idle connections before the gateway does, and waits longer than it", () => {
    const seconds = (name: string): number => Number(/^(\d+)s$/.exec(directive(name))?.[1]);
    expect(seconds("keepalive_timeout") * 1000).toBeLessThan(OPTIONS.server.keepAliveMs.default);
    // A provider may take ten minutes for a whole answer.
    expect(seconds("proxy_read_timeout")).toBeGreaterThan(600);
  });
});
