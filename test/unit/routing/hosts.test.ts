// The order of a model's hosts: health first, then the policy, with the hard and soft filters applied to each host.

import { describe, expect, it } from "vitest";
import type { HostSpeed, RoutingQuestion } from "../../../src/core/decision.ts";
import type { Capability, HostedModel, Model } from "../../../src/core/model.ts";
import type { SessionTurn } from "../../../src/core/session.ts";
import { decide } from "../../../src/routing/decide.ts";
import { hostedModelsOf } from "../../../src/routing/hosts.ts";
import { makeCatalog, makeModel, makeProvider, makeQuestion, type QuestionOverrides } from "../../support/catalog.ts";

interface HostSpec {
  readonly usd: number;
  readonly isProvisional?: boolean;
  readonly context?: number;
  readonly capabilities?: readonly Capability[];
}

/** A model at these providers, listed in this order. */
function hosted(id: string, hosts: Readonly<Record<string, HostSpec>>): Model {
  const models = Object.entries(hosts).map(([provider, { usd, capabilities = TOOLS, ...rest }], index): HostedModel => {
    const price = { input: usd * 1e6, output: usd * 1e6, cacheRead: null, cacheWrite: null };
    const hostKey = index === 0 ? id : `${id} via ${provider}`;
    const { hosts: _, ...model } = makeModel({ id, provider, host: provider, hostKey, price, capabilities, ...rest });
    return model;
  });
  return { ...(models[0] as HostedModel), hosts: models };
}

const TOOLS: readonly Capability[] = ["tools"];
const THREE = { vendor: { usd: 3 }, reseller: { usd: 1 }, fast: { usd: 1.1 } };

function decideFor(models: readonly Model[], question: QuestionOverrides = {}, extra: Partial<RoutingQuestion> = {}) {
  const names = new Set(models.flatMap(({ hosts }) => hosts.map(({ provider }) => provider)));
  const providers = [...names].filter((name) => name !== "absent").map((id) => makeProvider({ id }));
  const chains = { NANO: models, SIMPLE: models, LIGHT: models, STANDARD: models, COMPLEX: models };
  const catalog = makeCatalog({ chains, providers });
  const decision = decide({ ...makeQuestion(question), ...extra }, catalog);
  return { decision, hostKeys: hostedModelsOf(decision, catalog).map(({ hostKey }) => hostKey) };
}

function speeds(known: Readonly<Record<string, HostSpeed>>): Partial<RoutingQuestion> {
  return { hostSpeeds: new Map(Object.entries(known)) };
}

describe("the order of hosts", () => {
  it("is by price, and the estimate is that of the first host", () => {
    const { decision, hostKeys } = decideFor([hosted("m", THREE)]);
    expect(hostKeys).toEqual(["m via reseller", "m via fast", "m"]);
    expect(decision.hosts).toEqual({ m: ["reseller", "fast", "vendor"] });
    expect(decision.reasoning).toContain("host: reseller (cheapest), fallbacks fast, vendor");
    const alone = decideFor([hosted("m", { reseller: { usd: 1 } })]).decision;
    expect(decision.costEstimate).toBe(alone.costEstimate);
    expect(alone).not.toHaveProperty("hosts");
  });

  it("leaves a conversation at its host until another is three times as fast", () => {
    const model = hosted("m", { vendor: { usd: 1 }, reseller: { usd: 1 } });
    const last = { hostKey: "m via reseller" } as SessionTurn;
    const firstWith = (firstMs: number, view: SessionTurn | null): string | undefined => {
      const known = { m: { firstMs: 100, tokensPerSecond: 0 }, "m via reseller": { firstMs, tokensPerSecond: 0 } };
      const sessionView = { id: "s", last: view, loop: null, cached: [], nowMs: 0 };
      const controls = { hostOrder: "fastest" } as const;
      return decideFor([model], { controls }, { ...speeds(known), sessionView }).hostKeys[0];
    };
    expect([firstWith(250, null), firstWith(250, last), firstWith(350, last)]).toEqual(["m", "m via reseller", "m"]);
  });

  it("keeps the listed order among hosts of one price", () => {
    const { hostKeys } = decideFor([hosted("m", { vendor: { usd: 2 }, reseller: { usd: 2 } })]);
    expect(hostKeys).toEqual(["m", "m via reseller"]);
  });

  it("tries every host of a model before the next model", () => {
    const { decision, hostKeys } = decideFor([hosted("m", THREE), hosted("n", { vendor: { usd: 1 } })]);
    expect(decision.chain).toEqual(["m", "n"]);
    expect(hostKeys).toEqual(["m via reseller", "m via fast", "m", "n"]);
    expect(decision.hosts).not.toHaveProperty("n");
  });

  it("puts hosts that are cooling down last, and a model only when all of its hosts are", () => {
    const models = [hosted("m", THREE), hosted("n", { vendor: { usd: 1 } })];
    const one = decideFor(models, { restingModels: ["m via reseller"] });
    expect(one.hostKeys).toEqual(["m via fast", "m", "m via reseller", "n"]);
    expect(one.decision.reasoning).toContain("reseller (cooling down)");
    expect(one.decision.candidates[0]).toEqual({ model: "m", removedBecause: null });
    const all = decideFor(models, { restingModels: ["m", "m via reseller", "m via fast"] });
    expect(all.decision.chain).toEqual(["n", "m"]);
    expect(all.decision.candidates[1]).toMatchObject({ model: "m", restingBecause: "failing" });
  });

  it("is by observed speed with the policy fastest", () => {
    const known = {
      m: { firstMs: 100, tokensPerSecond: 400 },
      "m via reseller": { firstMs: 900, tokensPerSecond: 50 },
      "m via fast": { firstMs: 400, tokensPerSecond: 150 },
    };
    const { decision, hostKeys } = decideFor(
      [hosted("m", THREE)],
      { controls: { hostOrder: "fastest" } },
      speeds(known),
    );
    expect(hostKeys).toEqual(["m", "m via fast", "m via reseller"]);
    expect(decision.reasoning).toContain("(fastest, first token observed after 100 ms)");
  });

  it("takes the fastest of the cheap ones with the policy balanced", () => {
    const known = {
      m: { firstMs: 50, tokensPerSecond: 900 },
      "m via reseller": { firstMs: 2000, tokensPerSecond: 50 },
      "m via fast": { firstMs: 300, tokensPerSecond: 200 },
    };
    const { hostKeys } = decideFor([hosted("m", THREE)], { controls: { hostOrder: "balanced" } }, speeds(known));
    expect(hostKeys).toEqual(["m via fast", "m via reseller", "m"]);
  });

  it("gives hosts that nobody has measured their share of conversations", () => {
    const firsts = new Set<string | undefined>();
    for (let turn = 0; turn < 50; turn += 1) {
      const session = { session: () => `session ${turn}` };
      firsts.add(decideFor([hosted("m", THREE)], { controls: { hostOrder: "fastest" } }, session).hostKeys[0]);
    }
    expect(firsts).toEqual(new Set(["m", "m via reseller", "m via fast"]));
  });

  it("is the request's own before the profile's", () => {
    const known = speeds({
      m: { firstMs: 10, tokensPerSecond: 900 },
      "m via reseller": { firstMs: 900, tokensPerSecond: 9 },
    });
    const models = [hosted("m", { vendor: { usd: 3 }, reseller: { usd: 1 } })];
    const constraints = { hostOrder: "fastest" } as const;
    expect(decideFor(models, { constraints }, known).hostKeys[0]).toBe("m");
    const asked = { constraints, controls: { hostOrder: "cheapest" } } as const;
    expect(decideFor(models, asked, known).hostKeys[0]).toBe("m via reseller");
  });
});

describe("filters", () => {
  const IMAGE = { chat: { messages: [{ role: "user", content: [{ type: "image_url" }] }] } } as const;

  it("apply to each host", () => {
    const model = hosted("m", { blind: { usd: 1 }, seeing: { usd: 2, capabilities: ["vision"] } });
    const { decision, hostKeys } = decideFor([model], IMAGE);
    expect(hostKeys).toEqual(["m via seeing"]);
    expect(decision.reasoning).toContain("host: seeing (the only one that can take this request)");
  });

  it("remove a model when none of its hosts passes", () => {
    const blind = hosted("m", { one: { usd: 1 }, other: { usd: 2 } });
    const { decision } = decideFor([blind, hosted("n", { one: { usd: 1, capabilities: ["vision"] } })], IMAGE);
    expect(decision.chain).toEqual(["n"]);
    expect(decision.candidates).toContainEqual({ model: "m", removedBecause: "no vision" });
  });

  it("leave out hosts whose provider is not configured", () => {
    const { hostKeys } = decideFor([hosted("m", { one: { usd: 2 }, other: { usd: 3 }, absent: { usd: 1 } })]);
    expect(hostKeys).toEqual(["m", "m via other"]);
  });

  it("leave out hosts above the cost that a request allows", () => {
    const model = hosted("m", { dear: { usd: 1000 }, cheap: { usd: 1 } });
    const { hostKeys } = decideFor([model], { controls: { maxCostUsd: 0.01 } });
    expect(hostKeys).toEqual(["m via cheap"]);
  });

  it("take a window that is too small at one host only", () => {
    const model = hosted("m", { small: { usd: 1, context: 4 }, large: { usd: 2 } });
    expect(decideFor([model]).hostKeys).toEqual(["m via large"]);
  });

  it("prefer hosts that can do what a direct request needs", () => {
    const model = hosted("m", { blind: { usd: 1 }, seeing: { usd: 2, capabilities: ["vision"] } });
    const direct = { profile: "direct", model: "m" } as const;
    expect(decideFor([model], { ...IMAGE, controls: direct }).hostKeys).toEqual(["m via seeing"]);
    const blind = hosted("m", { one: { usd: 2 }, other: { usd: 1 } });
    expect(decideFor([blind], { ...IMAGE, controls: direct }).hostKeys).toEqual(["m via other", "m"]);
  });
});

describe("provisional hosts of a known model", () => {
  const NEW = {
    vendor: { usd: 3 },
    newcomer: { usd: 1, isProvisional: true, capabilities: ["tools", "vision"] },
  } as const;
  const picture = [
    { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }] },
  ];
  const only = (...providers: readonly string[]) => ({ controls: { providers } }) as QuestionOverrides;

  it("are not tried while a proven one can do it", () => {
    expect(decideFor([hosted("m", NEW)]).hostKeys).toEqual(["m"]);
    expect(decideFor([hosted("m", NEW)], only("vendor", "newcomer")).hostKeys).toEqual(["m"]);
  });

  it.each([
    ["by a rule of the request", only("newcomer")],
    ["by a rule of a profile", { constraints: { excludedProviders: ["vendor"] } } as QuestionOverrides],
    ["by what the request has", { chat: { messages: picture } } as unknown as QuestionOverrides],
  ])("serve what no proven one may: %s", (_name, question) => {
    const { decision, hostKeys } = decideFor([hosted("m", NEW)], question);
    expect([decision.model, hostKeys]).toEqual(["m", ["m via newcomer"]]);
    const controls = { ...question.controls, profile: "direct", model: "m" } as const;
    expect(decideFor([hosted("m", NEW)], { ...question, controls }).hostKeys).toEqual(["m via newcomer"]);
  });

  it("name what is missing where they do not meet a rule either", () => {
    expect(() => decideFor([hosted("m", NEW)], only("elsewhere"))).toThrow("elsewhere");
  });
});
