// The program's own package.json: its version and the Node it needs.

import { existsSync, readFileSync } from "node:fs";

interface Package {
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** The nearest one above this file, which lies at different depths in src/ and in dist/. */
export function readPackage(): Package {
  let file = new URL("./package.json", import.meta.url);
  while (!existsSync(file)) {
    const above = new URL("../package.json", file);
    if (above.href === file.href) throw new Error("The program's package.json is missing.");
    file = above;
  }
  return JSON.parse(readFileSync(file, "utf8")) as Package;
}
