// What a cascade costs, to the nano-USD: every answer that was used, each with a charge of its own, and nothing beside. After
// each test nothing is on hold and the ledger adds up.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type CascadeAnswer,
  type CascadeWorld,
  FITS,
  MISFITS,
  openCascade,
  SCHEMA,
  says,
} from "../../support/cascade.ts";
import { HELLO } from "../../support/gateway/gateway.ts";
import { fails, hangs } from "../../support/providers/fake-provider.ts";
import { type Bank, bankOf, decimal, usd } from "../../support/stores/money.ts";

const ASKED = {
  ...HELLO,
  response_format: { type: "json_schema", json_schema: { name: "answer", schema: SCHEMA } },
  service_cascade: true,
};

let world: CascadeWorld;
let bank: Bank;
beforeAll(async () => {
  world = await openCascade();
  bank = bankOf(world.provider, world.gateway);
});
beforeEach(() => world.provider.reset());
afterAll(() => world.close());

async function ask(body: object = {}, headers: Record<string, string> = {}): Promise<CascadeAnswer> {
  const answer = await bank.ask({ ...ASKED, ...body }, headers);
  expect(answer.status).toBe(200);
  return (await answer.json()) as CascadeAnswer;
}

interface Logged {
  readonly id: string;
  readonly chargeUsd: string | null;
  readonly ending: string | null;
  readonly money: { readonly holdUsd: string };
  readonly provider: string | null;
  readonly attempts: readonly { readonly model: string; readonly outcome: string }[];
  readonly cascade: readonly { readonly chargeUsd: string; readonly ledgerId: string }[] | null;
}

async function newestLogged(): Promise<Logged> {
  const { data } = (await (await world.gateway.api("GET", "/api/requests?limit=1")).json()) as { data: [Logged] };
  return (await (await world.gateway.api("GET", `/api/requests/${data[0].id}`)).json()) as Logged;
}

describe("a cascade is charged", () => {
  it("for one answer where the first one passes", async () => {
    world.provider.on("small", says(FITS));
    expect(await bank.spentBy(() => ask())).toBe(world.cost("small"));
  });

  it("for both answers where the first one fails, each with an entry of its own that the log names", async () => {
    world.provider.on("small", says(MISFITS, { prompt_tokens: 1013, completion_tokens: 77 }));
    world.provider.on("middle", says(FITS));
    const cost = world.cost(["small", 1013, 77], "middle");
    let answer: CascadeAnswer | null = null;
    expect(
      await bank.spentBy(async () => {
        answer = await ask();
      }),
    ).toBe(cost);
    expect(answer).toMatchObject({ service: { costUsd: world.costUsd(["small", 1013, 77], "middle") } });
    const logged = await newestLogged();
    expect(logged).toMatchObject({
      chargeUsd: world.costUsd(["small", 1013, 77], "middle"),
      attempts: [
        { model: "small", outcome: "answered" },
        { model: "middle", outcome: "answered" },
      ],
      cascade: [
        { tier: "NANO", model: "small", passed: false, failedCheck: "json_schema", reason: null },
        { tier: "SIMPLE", model: "middle", passed: true },
      ],
    });
    expect(logged.cascade?.map(({ chargeUsd }) => chargeUsd)).toEqual([
      world.costUsd(["small", 1013, 77]),
      world.costUsd("middle"),
    ]);
    const ids = (await bank.entries(2)).map(({ id }) => id);
    expect(ids.toSorted()).toEqual(logged.cascade?.map(({ ledgerId }) => ledgerId).toSorted());
  });

  it("for the first answer where the second tier fails", async () => {
    world.provider.on("small", says(MISFITS));
    world.provider.on("middle", fails(400));
    expect(await bank.spentBy(() => ask())).toBe(world.cost("small"));
    expect(await newestLogged()).toMatchObject({ provider: "lab", cascade: [{ model: "small", passed: false }] });
  });

  it("for the second answer alone where the first tier fails", async () => {
    for (const model of ["small", "spare"]) world.provider.on(model, fails(400));
    world.provider.on("middle", says(MISFITS));
    expect(await bank.spentBy(() => ask())).toBe(world.cost("middle"));
  });

  it("nothing where both tiers fail", async () => {
    world.provider.on("*", fails(400));
    expect(await bank.spentBy(() => bank.ask(ASKED))).toBe(0n);
    expect(await newestLogged()).toMatchObject({ chargeUsd: null, cascade: null });
  });

  it("once for a repeated request with an Idempotency-Key", async () => {
    world.provider.on("small", says(MISFITS));
    world.provider.on("middle", says(FITS));
    const headers = { "idempotency-key": "cascade-once" };
    let answers: CascadeAnswer[] = [];
    const spent = await bank.spentBy(async () => {
      answers = [await ask({}, headers), await ask({}, headers)];
    });
    expect(spent).toBe(world.cost("small", "middle"));
    expect(answers[1]).toEqual(answers[0]);
    expect(world.provider.requests.length).toBe(2);
  });
});

describe("service_max_cost", () => {
  it("ends a cascade whose first answer used up what a second one may cost", async () => {
    world.provider.on("small", says(MISFITS, { prompt_tokens: 1000, completion_tokens: 3000 }));
    world.provider.on("middle", says(FITS));
    let answer: CascadeAnswer | null = null;
    const spent = await bank.spentBy(async () => {
      answer = await ask({ service_max_cost: 0.0015 });
    });
    expect(spent).toBe(world.cost(["small", 1000, 3000]));
    expect(answer).toMatchObject({
      service: {
        model: "small",
        cascade: [{ passed: false }],
        notes: [{ code: "cascade_unmet", message: expect.stringContaining("more than is left of 0.0015 USD") }],
      },
    });
    expect(world.provider.callsTo("middle")).toBe(0);
  });

  it("lets both answers pass where they fit", async () => {
    world.provider.on("small", says(MISFITS));
    world.provider.on("middle", says(FITS));
    expect((await ask({ service_max_cost: 0.0015 })).service.cascade.length).toBe(2);
  });
});

describe("a client that leaves a cascade", () => {
  /** Leaves once this model was asked, and waits until the call is logged. */
  async function leaveAt(model: string): Promise<bigint> {
    return bank.spentBy(async () => {
      const exchange = bank.open(ASKED);
      for (;;) {
        const { body, closed } = await world.provider.nextRequest();
        if (body.model !== model) continue;
        exchange.leave();
        await closed;
        return;
      }
    });
  }

  it("while the first tier is asked pays nothing", async () => {
    world.provider.on("small", hangs);
    expect(await leaveAt("small")).toBe(0n);
  });

  it("while the second tier is asked pays for the first answer", async () => {
    world.provider.on("small", says(MISFITS));
    world.provider.on("middle", hangs);
    expect(await leaveAt("middle")).toBe(world.cost("small"));
    expect(await newestLogged()).toMatchObject({
      ending: "client-gone",
      chargeUsd: world.costUsd("small"),
      cascade: [{ model: "small", passed: false }],
    });
  });
});

describe("credits", () => {
  it("that cover one answer but not two give one answer, and a note", async () => {
    world.provider.on("*", says(MISFITS));
    await ask();
    const { money } = await newestLogged();
    await bank.empty();
    await bank.topUp(usd(decimal(money.holdUsd, 9) - 1n));
    const answer = await ask();
    expect(answer.service).toMatchObject({
      tier: "SIMPLE",
      notes: [{ code: "cascade_unused", message: expect.stringContaining("the balance does not cover two answers") }],
    });
    await bank.atRest();
    await bank.topUp("1000");
  });

  it("are reserved for both answers before the first is asked for, so that none can take them in between", async () => {
    await bank.empty();
    await bank.topUp("0.01");
    let held = 0n;
    world.provider.on("small", async (exchange) => {
      held = (await bank.balance()).held;
      await says(MISFITS)(exchange);
    });
    world.provider.on("middle", says(FITS));
    await ask();
    await bank.atRest();
    expect(held).toBe(decimal((await newestLogged()).money.holdUsd, 9));
    await bank.topUp("1000");
  });
});
