// Precedence of the layers, as a property: flags over environment over file over defaults.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { load } from "../../../src/config/load.ts";
import { fc } from "../../support/property.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-layers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const port = fc.option(fc.integer({ min: 0, max: 65_535 }), { nil: undefined });
const level = fc.option(fc.constantFrom("debug", "info", "warn", "error", "silent"), { nil: undefined });
const layer = fc.record({ port, level });

describe("precedence", () => {
  it("takes the strongest layer that sets an option, each option by itself", () => {
    fc.assert(
      fc.property(layer, layer, layer, (file, environment, flags) => {
        const lines = [
          file.port === undefined ? "" : `server: { port: ${file.port} }`,
          file.level === undefined ? "" : `logging: { level: ${file.level} }`,
        ];
        writeFileSync(join(folder, "switchyard.yaml"), lines.join("\n"));
        const loaded = load({
          cwd: folder,
          env: { PORT: environment.port?.toString() ?? "", LOG_LEVEL: environment.level },
          flags: { port: flags.port?.toString(), "log-level": flags.level },
        });
        expect(loaded.ok && loaded.settings.server.port).toBe(flags.port ?? environment.port ?? file.port ?? 8787);
        expect(loaded.ok && loaded.settings.logging.logLevel).toBe(
          flags.level ?? environment.level ?? file.level ?? "info",
        );
      }),
      { numRuns: 60 },
    );
  });

  it("checks a layer also when a stronger one outweighs it", () => {
    writeFileSync(join(folder, "switchyard.yaml"), "server: { port: x }\n");
    expect(load({ cwd: folder, env: {}, flags: { port: "1" } }).ok).toBe(false);
  });

  it("prefers the file named by the flag to the one named by the variable", () => {
    writeFileSync(join(folder, "a.yaml"), "server: { port: 1 }\n");
    writeFileSync(join(folder, "b.yaml"), "server: { port: 2 }\n");
    const loaded = load({ cwd: folder, env: { SWITCHYARD_CONFIG: "a.yaml" }, flags: { config: "b.yaml" } });
    expect(loaded).toMatchObject({ ok: true, settings: { server: { port: 2 } } });
  });
});
