// @ts-check
// The licences of the packages that a build joins into its files. Who passes those on has to pass the licences on too.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {{ folder: string, name: string, version: string, license: string }} JoinedPackage */

/**
 * A plugin for Rolldown and Vite: writes LICENSES.txt and packages.json beside what it builds. `copied` are files that the site takes from packages as they are.
 * @param {readonly string[]} [copied]
 * @returns {import("rolldown").Plugin}
 */
export function withLicences(copied = []) {
  return {
    name: "licences",
    generateBundle(_options, output) {
      const modules = Object.values(output).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
      const packages = packagesIn([...modules, ...copied]);
      this.emitFile({ type: "asset", fileName: "LICENSES.txt", source: writeLicences(packages) });
      this.emitFile({ type: "asset", fileName: "packages.json", source: writePackages(packages) });
    },
  };
}

/**
 * Packages that the modules come from, each once.
 * @param {readonly string[]} modules
 * @returns {JoinedPackage[]}
 */
function packagesIn(modules) {
  const folders = modules.flatMap((id) => /^.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+/.exec(id)?.[0] ?? []);
  return [...new Set(folders)].sort().map((path) => {
    const { name, version, license } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
    return { folder: path, name, version, license };
  });
}

/** Names and versions, from which the bill of materials is made. */
function writePackages(/** @type {readonly JoinedPackage[]} */ packages) {
  return JSON.stringify(Object.fromEntries(packages.map(({ name, version }) => [name, version])), null, 2);
}

function writeLicences(/** @type {readonly JoinedPackage[]} */ packages) {
  return packages.map(licenceOf).join(`\n${"-".repeat(80)}\n\n`);
}

function licenceOf(/** @type {JoinedPackage} */ { folder, name, version, license }) {
  const texts = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  return [`${name} ${version} (${license})`, ...texts.map((file) => readFileSync(join(folder, file), "utf8"))].join(
    "\n\n",
  );
}
