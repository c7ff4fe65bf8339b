// Writes an imported configuration as YAML with its comments. A file that is there is kept beside the new one.

import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { Document, isCollection, isMap, isSeq, type Node, type YAMLMap } from "yaml";
import type { Imported } from "./imported.ts";

/** The text of switchyard.yaml. `title` is the first line. */
export function configurationText({ config, comments, unmapped }: Imported, title: string): string {
  const document = new Document(config);
  const models = document.get("models");
  if (isSeq(models)) {
    for (const item of models.items) {
      const id = isMap(item) ? String(item.get("id")) : "";
      setComment(item as Node, comments.models.get(id) ?? []);
    }
  }
  inlineLeaves(document.contents as Node | null);
  const head = [title, ...comments.head, ...(unmapped.length === 0 ? [] : ["", "Not taken over:"])];
  const rest = unmapped.map(({ what, why }) => `- ${what}: ${why}`);
  const body = Object.keys(config).length === 0 ? "" : document.toString({ lineWidth: 0, flowCollectionPadding: true });
  return `${commented([...head, ...rest])}\n${body === "" ? "" : `\n${body}`}`;
}

function commented(lines: readonly string[]): string {
  const single = lines.flatMap((line) => line.split("\n"));
  return single.map((line) => (line === "" ? "#" : `# ${line}`)).join("\n");
}

function setComment(node: Node, lines: readonly string[]): void {
  if (lines.length > 0) node.commentBefore = lines.map((line) => ` ${line}`).join("\n");
}

/** Short maps and lists without references stand on one line, as people write them. */
function inlineLeaves(node: Node | null): void {
  if (!isCollection(node)) return;
  const values = isMap(node) ? (node as YAMLMap<unknown, Node | null>).items.map(({ value }) => value) : node.items;
  const isLeaf = values.length > 0 && values.every((value) => !isCollection(value));
  const text = JSON.stringify(node.toJSON());
  if (isLeaf && text.length < LINE && !text.includes("${")) node.flow = true;
  else for (const value of values) inlineLeaves(value as Node | null);
}

const LINE = 90;

/** Says where the file that was there is kept; null where none was. */
export function writeConfiguration(path: string, text: string): string | null {
  const kept = existsSync(path) ? freeName(path) : null;
  if (kept !== null) copyFileSync(path, kept);
  writeFileSync(path, text);
  return kept;
}

function freeName(path: string): string {
  for (let number = 1; ; number += 1) {
    const name = `${path}.${number}.bak`;
    if (!existsSync(name)) return name;
  }
}
