// The documentation as it is built: every link, anchor and picture leads somewhere, every page is in the navigation and
// short enough, and nothing in it needs another host or breaks the content policy.

import { readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { gunzipSync } from "node:zlib";
import fastifyStatic from "@fastify/static";
import Fastify from "fastify";
import { beforeAll, describe, expect, test } from "vitest";
import { SECTIONS } from "../../../docs/.vitepress/navigation.mjs";
import { listFiles } from "../../../scripts/setup/files.mjs";
import { ensureSite } from "../../../scripts/setup.mjs";
import { registerDocs } from "../../../src/http/pages/docs.ts";

const ROOT = join(import.meta.dirname, "../../..");
const SITE = join(ROOT, "dist/docs");
const SITE_MAX_BYTES = 6 * 1024 * 1024;
const PAGE_WORDS_MAX = 1200;

/** Pages that are read by looking something up, and are longer for it. */
const LONG_PAGES = ["contribute/behaviour.md", "contribute/routing-experiments.md", "reference/cli.md"];

const sources = listFiles(join(ROOT, "docs"), ".")
  .map((path) => path.replace(/^\.\//, ""))
  .filter((path) => path.endsWith(".md"));
const source = (path: string): string => readFileSync(join(ROOT, "docs", path), "utf8");

describe("the pages", () => {
  test("are all in the navigation", () => {
    const links = SECTIONS.flatMap(({ items }) => items).map(({ link }) => link.slice(1).replace(/(^|\/)$/, "$1index"));
    expect(links.map((link) => `${link}.md`).sort()).toEqual([...sources].sort());
  });

  test.each(sources.filter((path) => !LONG_PAGES.includes(path)))("%s is short", (path) => {
    expect(proseWords(source(path))).toBeLessThanOrEqual(PAGE_WORDS_MAX);
  });
});

describe("the built site", () => {
  let pages: readonly string[] = [];
  const isFile = (path: string): boolean => statSync(join(SITE, path), { throwIfNoEntry: false })?.isFile() === true;
  /** Large pages lie there compressed only. */
  const html = (path: string): string =>
    isFile(path)
      ? readFileSync(join(SITE, path), "utf8")
      : gunzipSync(readFileSync(join(SITE, `${path}.gz`))).toString();
  beforeAll(async () => {
    await ensureSite();
    pages = listFiles(SITE, ".")
      .map((path) => path.replace(/^\.\/|\.gz$/g, ""))
      .filter((path) => path.endsWith(".html"));
  });

  test("has a page for each source", () => {
    expect(pages.filter((page) => page !== "404.html").length).toBe(sources.length);
  });

  test("has no link, anchor or picture that leads nowhere", () => {
    const dead = pages.flatMap((page) =>
      targetsOf(html(page))
        .filter((target) => !leadsSomewhere(page, target))
        .map((target) => `${page}: ${target}`),
    );
    expect(dead).toEqual([]);
  });

  test("has no inline script or style, which the content policy would block", () => {
    expect(pages.filter((page) => / style="|<style|<script(?![^>]* src=)/.test(html(page)))).toEqual([]);
  });

  test("loads nothing from another host", () => {
    const foreign = pages.flatMap((page) => html(page).match(/(?:src|<link[^>]* href)="(?:https?:)?\/\/[^"]*/g) ?? []);
    expect(foreign).toEqual([]);
  });

  test("is small", () => {
    const bytes = listFiles(SITE, ".").reduce((sum, path) => sum + statSync(join(SITE, path)).size, 0);
    expect(bytes).toBeLessThan(SITE_MAX_BYTES);
  });

  test("comes with its Markdown, in one file and page by page", async () => {
    for (const path of sources) {
      expect(readFileSync(join(SITE, path), "utf8")).toBe(source(path));
    }
    const server = Fastify();
    await server.register(fastifyStatic, { root: SITE, serve: false });
    registerDocs(server, SITE);
    const { statusCode, headers, body } = await server.inject("/docs/llms-full.txt");
    expect({ statusCode, type: headers["content-type"] }).toEqual({
      statusCode: 200,
      type: "text/plain; charset=utf-8",
    });
    expect(sources.filter((path) => !body.includes(source(path).trim()))).toEqual([]);
    await server.close();
  });

  function leadsSomewhere(page: string, target: string): boolean {
    const [path = "", anchor = ""] = target.split("#", 2);
    const file = path === "" ? page : fileAt(posix.resolve("/docs", posix.dirname(page), path));
    return file !== null && (anchor === "" || html(file).includes(`id="${decodeURIComponent(anchor)}"`));
  }

  /** As the gateway finds it: a page without its extension, a folder by its index. */
  function fileAt(path: string): string | null {
    const inside = posix.relative("/docs", path);
    const names = [inside, `${inside}.html`, posix.join(inside, "index.html")];
    return names.find((name) => isFile(name) || isFile(`${name}.gz`)) ?? null;
  }
});

/** Where links and pictures of a page lead, without other hosts and the gateway's own endpoints. */
function targetsOf(page: string): readonly string[] {
  const targets = [...page.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, target]) => target as string);
  return targets.filter((target) => !/^(?:[a-z]+:|\/(?!docs\/))/.test(target));
}

/** Words that are read in order: code, tables and generated blocks are looked up. */
function proseWords(markdown: string): number {
  const prose = markdown
    .replace(/^```.*?^```$/gms, "")
    .replace(/<!-- generated.*?<!-- end.*?-->/gs, "")
    .replace(/^\|.*$/gm, "");
  return prose.split(/\s+/).filter((word) => /\w/.test(word)).length;
}
