// The catalogue as a file: what it holds, what it may hold, and its signature.

import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { buildCatalog } from "../../../src/catalog/build.ts";
import { readBuiltin } from "../../../src/catalog/builtin.ts";
import { diffCatalogues, diffWords, isEmptyDiff } from "../../../src/catalog/file/diff.ts";
import {
  type CatalogueFile,
  compareVersions,
  fileOf,
  withFile,
  writeFileText,
} from "../../../src/catalog/file/file.ts";
import { catalogueInUse, packCatalogue, publishedIn } from "../../../src/catalog/file/published.ts";
import { isCatalogueText, readCatalogue, readSignedCatalogue } from "../../../src/catalog/file/read.ts";
import { MAINTAINERS_KEYS, signed } from "../../../src/catalog/file/signature.ts";

const pem = (type: "ed25519" | "ed448"): string =>
  generateKeyPairSync(type as "ed25519").privateKey.export({ type: "pkcs8", format: "pem" }) as string;

const shipped = readBuiltin();
const file = fileOf(shipped);
const KEY = pem("ed25519");
const good = signed(file, KEY);
const trusted = [good.signature?.key ?? ""];

/** The file with one value replaced, by its path. */
function changed(path: string, value: unknown, from: CatalogueFile = file): string {
  const copy = JSON.parse(JSON.stringify(from));
  const steps = path.split(".");
  const last = steps.pop() ?? "";
  const parent = steps.reduce((at, step) => at[step], copy);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return JSON.stringify(copy);
}

test("the catalogue that ships passes the checks of a file, and comes back as it was", () => {
  const read = readCatalogue(writeFileText(file));
  expect(read).toEqual(JSON.parse(JSON.stringify(file)));
  expect(isEmptyDiff(diffCatalogues(shipped, withFile(shipped, read)))).toBe(true);
  expect(withFile(shipped, read).tiers).toEqual(shipped.tiers);
  expect(file).toMatchObject({ version: expect.stringMatching(/^\d{4}-\d{2}-\d{2}\.\d+$/), licence: "CC0-1.0" });
});

test("the file names no address and no variable of a provider", () => {
  const text = writeFileText(file);
  for (const { baseUrl, keyVariable } of shipped.providers) {
    expect(text).not.toContain(`"${baseUrl}"`);
    expect(text).not.toContain(keyVariable);
  }
});

describe("a signature", () => {
  test("holds whatever the order and the spaces of the file", () => {
    const turned = Object.fromEntries(Object.entries(good).toReversed());
    for (const text of [writeFileText(good), JSON.stringify(turned), JSON.stringify(good, null, 4)]) {
      expect(readSignedCatalogue(text, trusted)).toMatchObject({
        signedBy: trusted[0],
        file: { version: file.version },
      });
    }
  });

  test.each([
    ["a changed price", changed("models.0.price.input", 0.01, good), /changed after it was signed/],
    ["a changed chain", changed("chains.NANO", ["gpt-6-luna"], good), /changed after it was signed/],
    ["a changed version", changed("version", "2026-11-19.1", good), /changed after it was signed/],
    ["an added field", changed("extra", 1, good), /changed after it was signed/],
    [
      "another's signature",
      changed("signature.value", signed({ ...file, about: "" }, KEY).signature?.value, good),
      /changed after/,
    ],
    ["half a signature", changed("signature.value", "AAAA", good), /changed after it was signed/],
    ["no signature", writeFileText(file), /has no signature/],
    ["another algorithm", changed("signature.algorithm", "none", good), /has no signature/],
    ["an unknown key", writeFileText(signed(file, pem("ed25519"))), /which is not trusted/],
    ["a file that is cut off", writeFileText(good).slice(0, 9_000), /cut off, or is not JSON/],
    [
      "an unknown field that is signed",
      JSON.stringify(signed({ ...file, more: 1 } as CatalogueFile, KEY)),
      /unknown field more/,
    ],
  ])("is refused with %s", (_, text, reason) => {
    expect(() => readSignedCatalogue(text, trusted)).toThrow(reason);
  });

  test("signed with another key is not one of the maintainers", () => {
    expect(() => readSignedCatalogue(writeFileText(good), MAINTAINERS_KEYS)).toThrow(/not trusted/);
  });

  test("names keys of the maintainers that have 32 bytes, once there are any", () => {
    expect(MAINTAINERS_KEYS.filter((key) => Buffer.from(key, "base64").length !== 32)).toEqual([]);
  });

  test("needs an Ed25519 key", () => {
    expect(() => signed(file, "no key")).toThrow("no private key in PEM form");
    expect(() => signed(file, pem("ed448"))).toThrow("ed448, and has to be ed25519");
  });
});

describe("a file is refused", () => {
  test.each([
    ["an unknown field of a model", "models.0.colour", "red", /models\.gpt-6-astra has the unknown field colour/],
    ["a price that is text", "models.0.price.input", "1", /models\.gpt-6-astra\.price\.input/],
    ["a negative price", "models.0.price.input", -1, /models\.gpt-6-astra\.price\.input/],
    ["a price in other units", "models.0.price.input", 2e7, /models\.gpt-6-astra\.price\.input/],
    ["a price that is not exact", "models.0.price.input", 0.123456789, /a price that is not exact/],
    ["no price", "models.0.price", undefined, /models\.gpt-6-astra at openai has no price/],
    ["a window of billions", "models.0.context", 1e10, /models\.gpt-6-astra\.context/],
    ["an unknown dialect", "models.0.dialect", "klingon", /unknown dialect klingon/],
    ["an unknown capability", "models.0.capabilities", ["flying"], /models\.gpt-6-astra\.capabilities/],
    [
      "a model in a chain that is not there",
      "chains.NANO",
      ["gpt-9@low"],
      /chains\.NANO names the unknown model gpt-9/,
    ],
    ["an empty chain", "chains.NANO", [], /chains\.NANO is empty/],
    ["an alias of nothing", "aliases.x", "gpt-9", /aliases\.x names the unknown model gpt-9/],
    ["two models of one id", "models.1.id", "gpt-6-astra", /gpt-6-astra is listed twice/],
    ["a version of another day", "version", "2026-01-01.1", /is not of the date/],
    ["no models", "models", [], /models/],
    ["a newer format", "format", 2, /newer version of Switchyard/],
    [
      "an address of a provider",
      "providers",
      [{ id: "openai", baseUrl: "https://evil.example" }],
      /unknown field providers/,
    ],
  ])("with %s", (_, path, value, reason) => {
    expect(() => readCatalogue(changed(path, value))).toThrow(reason);
  });

  test.each([
    ["too large", `${JSON.stringify(file).slice(0, -1)},"about":"${"x".repeat(5e6)}"}`, /larger than 4 MB/],
    ["nested too deeply", changed("about", JSON.parse("[".repeat(50) + "]".repeat(50))), /nested too deeply/],
    ["deep enough to overflow a stack", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, /nested too deeply/],
    ["a list", "[]", /./],
    ["null", "null", /not a JSON object/],
  ])("where it is %s", (_, text, reason) => {
    expect(() => readCatalogue(text)).toThrow(reason);
  });
});

test("a catalogue is told from a price list, also where it is broken", () => {
  expect(isCatalogueText(writeFileText(file).slice(0, 200))).toBe(true);
  expect(isCatalogueText('{"gpt-6-luna":{"litellm_provider":"openai"}}')).toBe(false);
});

test("versions of a day are counted as numbers", () => {
  expect(compareVersions("2026-11-18.2", "2026-11-18.10")).toBeLessThan(0);
  expect(compareVersions("2026-11-19.1", "2026-11-18.10")).toBeGreaterThan(0);
  expect(compareVersions("2026-11-18.2", "2026-11-18.2")).toBe(0);
});

describe("a published catalogue", () => {
  const [first] = file.models;
  const cheaper = { ...first, price: { input: 0.05, output: 0.25 } } as (typeof file.models)[number];
  const next: CatalogueFile = {
    ...file,
    version: "2027-01-01.1",
    date: "2027-01-01",
    models: [cheaper, ...file.models.slice(1)],
  };
  const published = packCatalogue(next, "key", file.version);

  test("is the one in use, and is small", () => {
    const inUse = catalogueInUse(shipped, publishedIn(JSON.parse(JSON.stringify(published))));
    expect(inUse.tiers).toMatchObject({ asOf: "2027-01-01", revision: 1 });
    expect(inUse.providers).toBe(shipped.providers);
    const { catalog } = buildCatalog({ builtin: inUse });
    expect(catalog?.models.get("gpt-6-astra")?.price).toMatchObject({ input: 50_000, output: 250_000 });
    expect(published.data.length).toBeLessThan(40_000);
    expect(catalogueInUse(shipped, null)).toBe(shipped);
  });

  test("gives way to a package with a newer one, and to no older one", () => {
    const packageOf = (asOf: string) => ({ ...shipped, tiers: { ...shipped.tiers, asOf } });
    const newer = packageOf("2027-02-01");
    expect(catalogueInUse(newer, published)).toBe(newer);
    expect(catalogueInUse(packageOf("2026-12-31"), published).tiers.asOf).toBe("2027-01-01");
    // Somebody went back on purpose, with the newer package already there.
    const back = packCatalogue(next, "key", "2027-02-01.1");
    expect(catalogueInUse(newer, back).tiers.asOf).toBe("2027-01-01");
  });

  test.each([
    ["no data", { ...published, data: undefined }],
    ["more than it should have", { ...published, more: "" }],
    ["text for everything", "x"],
  ])("is refused with %s", (_, section) => {
    expect(() => publishedIn(section)).toThrow("has to have");
  });

  test.each([
    ["garbage", { ...published, data: "AAAA" }, /cannot be unpacked/],
    ["another version than it says", { ...published, version: "2027-01-02.1" }, /is version 2027-01-01.1 and not/],
  ])("is refused with %s inside", (_, section, reason) => {
    expect(() => catalogueInUse(shipped, section)).toThrow(reason);
  });

  test("is told apart from the one before, in words", () => {
    const [, ...rest] = next.models;
    const after = withFile(shipped, {
      ...next,
      models: [{ ...cheaper, context: 100_000 }, ...rest.slice(1), { ...cheaper, id: "gpt-7", hosts: [] }],
      chains: { ...next.chains, NANO: ["gpt-7"] },
      aliases: {},
    });
    expect(diffWords(diffCatalogues(shipped, after)).map(({ words }) => words)).toEqual([
      "gpt-6-astra at openai: 10/50 → 0.05/0.25",
      "added gpt-7",
      "removed gpt-6.1-sol",
      "gpt-6-astra: context",
      "chain NANO: gpt-7",
      "aliases changed",
    ]);
  });
});
