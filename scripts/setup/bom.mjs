// @ts-check
// Writes dist/sbom.cdx.json, the packages that a release is made of, as CycloneDX. Scanners of those who install the package
// see its dependencies only, and not what the build has joined into dist/.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "./files.mjs";

/** @typedef {{ version: string, license?: string, integrity?: string, dev?: boolean }} LockEntry */

export function writeBom(/** @type {string} */ root) {
  writeFileSync(join(root, "dist", "sbom.cdx.json"), `${JSON.stringify(bomOf(root), null, 2)}\n`);
}

function bomOf(/** @type {string} */ root) {
  const { name, version, license } = readJson(join(root, "package.json"));
  const components = servedPackages(root).map(component);
  const self = purlOf(name, version);
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": self,
        name,
        version,
        purl: self,
        licenses: [{ expression: license }],
      },
    },
    components,
    dependencies: [{ ref: self, dependsOn: components.map(({ purl }) => purl) }],
  };
}

/**
 * Packages that npm installs beside ours, and packages that were joined into it. Reads a checkout that is built.
 * @returns {(LockEntry & { name: string })[]}
 */
export function servedPackages(/** @type {string} */ root) {
  const locked = [".", "docs"].flatMap((group) => lockedIn(join(root, group)));
  const installed = lockedIn(root).filter(({ dev }) => dev !== true);
  const joined = ["program", "ui", "docs"].flatMap((part) => {
    const packages = Object.entries(readJson(join(root, "dist", part, "packages.json")));
    return packages.map(([name, version]) => {
      const entry = locked.find((one) => one.name === name && one.version === version);
      if (entry === undefined) throw new Error(`dist/${part} holds ${name} ${version}, which no lock file names`);
      return entry;
    });
  });
  const served = new Map([...installed, ...joined].map((entry) => [`${entry.name} ${entry.version}`, entry]));
  return [...served.keys()].sort().flatMap((key) => served.get(key) ?? []);
}

function lockedIn(/** @type {string} */ folder) {
  /** @type {[string, LockEntry][]} */
  const entries = Object.entries(readJson(join(folder, "package-lock.json")).packages);
  const packages = entries.filter(([path]) => path !== "");
  return packages.map(([path, entry]) => ({ ...entry, name: path.split("node_modules/").at(-1) ?? "" }));
}

function component(/** @type {LockEntry & { name: string }} */ { name, version, license, integrity = "" }) {
  const purl = purlOf(name, version);
  const [algorithm, digest = ""] = integrity.split("-");
  const content = Buffer.from(digest, "base64").toString("hex");
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    purl,
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
    ...(algorithm === "sha512" ? { hashes: [{ alg: "SHA-512", content }] } : {}),
  };
}

function purlOf(/** @type {string} */ name, /** @type {string} */ version) {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}
