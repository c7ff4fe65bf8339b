// The program's own package: its version, the Node it needs, and how its command is called where it is installed.

import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";

interface Package {
  readonly version: string;
  readonly engines: { readonly node: string };
}

export function readPackage(): Package {
  return JSON.parse(readFileSync(manifest(), "utf8")) as Package;
}

let call: string | undefined;

/** A command as it works in this installation, such as `npm start -- doctor` in a checkout. */
export function command(args: string): string {
  return `${commandPrefix()} ${args}`;
}

/** The beginning of every command in this installation. Looked up once. */
export function commandPrefix(): string {
  call ??= containerCall(process.env, process.argv[2]) ?? callIn(fileURLToPath(new URL(".", manifest())));
  return call;
}

/**
 * From outside a container that serves, which is named by its host name; null anywhere else. Other commands in the image
 * run in a shell of the container, or in a container that is gone when they end.
 */
export function containerCall(env: NodeJS.ProcessEnv, subcommand = "serve"): string | null {
  const isServing = subcommand === "serve" || subcommand.startsWith("-");
  if (env.IN_CONTAINER === undefined || !isServing) return null;
  return env.KUBERNETES_SERVICE_HOST === undefined
    ? `docker exec ${hostname()} switchyard`
    : `kubectl exec ${hostname()} -- switchyard`;
}

/** npx installs into a folder of its own; only a checkout has sources, and no image or package does. */
export function callIn(folder: string): string {
  if (/[\\/]_npx[\\/]/.test(folder)) return "npx switchyard-gateway";
  return existsSync(`${folder}/src/main.ts`) ? "npm start --" : "switchyard";
}

/** The nearest one above this file, which lies at different depths in src/ and in dist/. */
function manifest(): URL {
  let file = new URL("./package.json", import.meta.url);
  while (!existsSync(file)) {
    const above = new URL("../package.json", file);
    if (above.href === file.href) throw new Error("The program's package.json is missing.");
    file = above;
  }
  return file;
}
