// Mixed traffic: both formats, whole and streamed, tools, large bodies, disconnects, repeated and wrong requests, and the
// dashboard. Each request records what it may have cost.

import { Agent } from "node:http";
import type { Random } from "../../test/support/random.ts";
import type { Expected } from "./charges.ts";
import { type SoakOutcome, type SoakRequest, send } from "./request.ts";

/** Target, amount and end of the traffic. */
interface Traffic {
  readonly url: string;
  readonly key: string;
  readonly adminToken: string;
  readonly random: Random;
  readonly clients: number;
  isOver(): boolean;
}

/** Events that the verdict is made of. */
export interface Tally {
  /** Number of times that each kind of request had each outcome. */
  readonly outcomes: Map<string, number>;
  readonly expected: Map<string, Expected>;
  /** Events that should never happen. */
  readonly violations: string[];
}

/** A disconnected request costs at most its hold; this is far above any hold of these prompts. */
const DISCONNECTED_NANO_MAX = 2_000_000_000n;
/** The longest pause of a client between two requests. */
const THINK_MS_MAX = 40;
const TOOLS = [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }];

/** Runs all clients until the end. */
export async function runTraffic(traffic: Traffic): Promise<Tally> {
  const tally: Tally = { outcomes: new Map(), expected: new Map(), violations: [] };
  const clients = Array.from({ length: traffic.clients }, (_, index) => runClient(traffic, tally, index));
  await Promise.all(clients);
  return tally;
}

/** One client: one connection, one request at a time. */
async function runClient(traffic: Traffic, tally: Tally, index: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let count = 0; !traffic.isOver(); count += 1) {
    const kind = traffic.random.pick(MIX);
    await KINDS[kind](new ClientAction({ traffic, tally, agent, kind, id: `soak-${index}-${count}` }));
    await new Promise((resolve) => setTimeout(resolve, traffic.random.below(THINK_MS_MAX)));
  }
  agent.destroy();
}

interface ActionOptions {
  readonly traffic: Traffic;
  readonly tally: Tally;
  readonly agent: Agent;
  readonly kind: string;
  readonly id: string;
}

/** One thing a client does. */
class ClientAction {
  readonly #options: ActionOptions;
  readonly random: Random;

  constructor(options: ActionOptions) {
    this.#options = options;
    this.random = options.traffic.random;
  }

  /** A completion. A whole response costs what it shows, a disconnected one may cost something, any other nothing. */
  async complete(
    path: string,
    body: object,
    extra: Partial<SoakRequest> & { suffix?: string } = {},
  ): Promise<SoakOutcome> {
    const { tally, id } = this.#options;
    const requestId = `${id}${extra.suffix ?? ""}`;
    const outcome = await this.#send({
      method: "POST",
      path,
      body: JSON.stringify(body),
      disconnectAfterBytes: extra.disconnectAfterBytes ?? null,
      headers: { ...this.#keyHeaders(), "x-request-id": requestId, ...extra.headers },
    });
    const { cost, kind } = outcome;
    if (cost !== null) tally.expected.set(requestId, { exactly: cost });
    else tally.expected.set(requestId, kind === "disconnected" ? { atMost: DISCONNECTED_NANO_MAX } : { exactly: 0n });
    if (kind === "stream without an end") this.violate(`${requestId}: a stream without an end and without an error`);
    return outcome;
  }

  async read(path: string): Promise<void> {
    const headers = path.startsWith("/api/")
      ? { authorization: `Bearer ${this.#options.traffic.adminToken}` }
      : this.#keyHeaders();
    const outcome = await this.#send({ method: "GET", path, headers, body: null, disconnectAfterBytes: null });
    this.#expect(outcome, 200, path);
  }

  /** A request that costs nothing, and the status it must have. */
  async post(path: string, body: string, options: { status: number; key?: string }): Promise<void> {
    const authorization = `Bearer ${options.key ?? this.#options.traffic.key}`;
    const headers = { ...this.#keyHeaders(), authorization };
    const outcome = await this.#send({ method: "POST", path, headers, body, disconnectAfterBytes: null });
    this.#expect(outcome, options.status, path);
  }

  /** The repeated request must not be charged again. */
  expectFree(suffix: string): void {
    this.#options.tally.expected.set(`${this.#options.id}${suffix}`, { exactly: 0n });
  }

  violate(words: string): void {
    this.#options.tally.violations.push(words);
  }

  /** Overload (503) and rate limits (429) are correct responses, too. */
  #expect({ status, kind }: SoakOutcome, wanted: number, path: string): void {
    if (status !== wanted && status !== 503 && status !== 429 && status !== null) {
      this.violate(`${path}: ${kind}, not ${wanted}`);
    }
  }

  async #send(request: SoakRequest): Promise<SoakOutcome> {
    const { traffic, tally, agent, kind } = this.#options;
    const outcome = await send(traffic.url, agent, request);
    const name = `${kind}: ${outcome.kind}`;
    tally.outcomes.set(name, (tally.outcomes.get(name) ?? 0) + 1);
    if (outcome.status === 500) this.violate(`500 for ${request.path}: ${outcome.text.slice(0, 200)}`);
    // The last requests may meet a gateway that is being stopped from outside; before that no connection may break.
    if (outcome.kind.startsWith("connection ") && !traffic.isOver()) this.violate(`${name} (${request.path})`);
    return outcome;
  }

  #keyHeaders(): Record<string, string> {
    return { authorization: `Bearer ${this.#options.traffic.key}`, "content-type": "application/json" };
  }
}

const chat = (words: string, more: object = {}): object => ({
  model: "auto",
  messages: [{ role: "user", content: words }],
  ...more,
});
const streamed = { stream: true, stream_options: { include_usage: true } };
const QUESTIONS = [
  "What is the capital of France?",
  "Refactor this recursive function into a loop and prove that it terminates.",
  "Summarise the history of the railway in three sentences.",
];

/** Actions of a client. */
const KINDS = {
  chat: (action) => action.complete("/v1/chat/completions", chat(action.random.pick(QUESTIONS))),
  "chat, streamed": (action) => action.complete("/v1/chat/completions", chat(action.random.pick(QUESTIONS), streamed)),
  "chat, direct to a Messages provider": (action) =>
    action.complete("/v1/chat/completions", chat("Hello", { ...streamed, model: "gamma", service_profile: "direct" })),
  messages: (action) => action.complete("/v1/messages", chat(action.random.pick(QUESTIONS), { max_tokens: 2000 })),
  "messages, streamed": (action) =>
    action.complete("/v1/messages", chat(action.random.pick(QUESTIONS), { max_tokens: 2000, stream: true })),
  tools: (action) =>
    action.complete("/v1/chat/completions", chat("Look at the weather", { tools: TOOLS, ...streamed })),
  "large body": (action) =>
    action.complete("/v1/chat/completions", chat("words ".repeat(2000 + action.random.below(60_000)))),
  "disconnects at once": (action) =>
    action.complete("/v1/chat/completions", chat("Hello", streamed), { disconnectAfterBytes: 0 }),
  "disconnects in the middle": (action) =>
    action.complete("/v1/chat/completions", chat("Hello", streamed), {
      disconnectAfterBytes: 1 + action.random.below(2000),
    }),
  repeats: repeatOnce,
  debug: (action) =>
    action.post("/v1/routing/debug", JSON.stringify({ prompt: action.random.pick(QUESTIONS) }), { status: 200 }),
  models: (action) => action.read("/v1/models"),
  dashboard: (action) =>
    action.read(
      action.random.pick([
        "/api/requests?limit=50",
        "/api/usage?by=hour&group=model",
        "/api/credits",
        "/api/keys",
        "/",
      ]),
    ),
  "not JSON": (action) => action.post("/v1/chat/completions", '{"model":', { status: 400 }),
  "wrong key": (action) => action.post("/v1/chat/completions", "{}", { status: 401, key: "sk-service-no" }),
} satisfies Readonly<Record<string, (action: ClientAction) => Promise<unknown>>>;

type Kind = keyof typeof KINDS;

/** Weight of the action among all. */
const WEIGHTS: Readonly<Record<Kind, number>> = {
  chat: 10,
  "chat, streamed": 14,
  "chat, direct to a Messages provider": 4,
  messages: 6,
  "messages, streamed": 8,
  tools: 4,
  "large body": 2,
  "disconnects at once": 3,
  "disconnects in the middle": 5,
  repeats: 3,
  debug: 3,
  models: 2,
  dashboard: 6,
  "not JSON": 2,
  "wrong key": 1,
};

const MIX = Object.entries(WEIGHTS).flatMap(([kind, weight]) => Array<Kind>(weight).fill(kind as Kind));

/** The same idempotency key and body twice: the same response, and one charge. */
async function repeatOnce(action: ClientAction): Promise<void> {
  const key = `key-${action.random.below(2 ** 31)}-${action.random.below(2 ** 31)}`;
  const options = { headers: { "idempotency-key": key } };
  const first = await action.complete("/v1/chat/completions", chat("Hello"), { ...options, suffix: "-first" });
  if (first.cost === null) return;
  const second = await action.complete("/v1/chat/completions", chat("Hello"), { ...options, suffix: "-second" });
  if (second.status !== 200) return;
  action.expectFree("-second");
  if (second.text !== first.text) action.violate(`${key}: the repeated answer differs`);
}
