// Clients of every kind at once: both formats, whole and streamed, with tools, with large bodies, leaving, repeating,
// wrong, and people at the dashboard. Each notes what it may have cost.

import { Agent } from "node:http";
import type { Random } from "../../test/support/random.ts";
import { ask, type Outcome, type Question } from "./ask.ts";
import type { Expected } from "./books.ts";

export interface Traffic {
  readonly url: string;
  readonly key: string;
  readonly adminToken: string;
  readonly random: Random;
  readonly clients: number;
  isOver(): boolean;
}

export interface Tally {
  /** How often each kind of request had each outcome. */
  readonly outcomes: Map<string, number>;
  readonly expected: Map<string, Expected>;
  /** What should never happen. */
  readonly violations: string[];
}

/** A request that left costs at most its hold; this is far above any hold of these prompts. */
const LEFT_NANO_MAX = 2_000_000_000n;
const THINK_MS_MAX = 40;
const TOOLS = [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }];

export async function runTraffic(traffic: Traffic): Promise<Tally> {
  const tally: Tally = { outcomes: new Map(), expected: new Map(), violations: [] };
  const clients = Array.from({ length: traffic.clients }, (_, index) => runClient(traffic, tally, index));
  await Promise.all(clients);
  return tally;
}

async function runClient(traffic: Traffic, tally: Tally, index: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let count = 0; !traffic.isOver(); count += 1) {
    const kind = traffic.random.pick(MIX);
    await KINDS[kind](new Visit({ traffic, tally, agent, kind, id: `soak-${index}-${count}` }));
    await new Promise((resolve) => setTimeout(resolve, traffic.random.below(THINK_MS_MAX)));
  }
  agent.destroy();
}

interface VisitOptions {
  readonly traffic: Traffic;
  readonly tally: Tally;
  readonly agent: Agent;
  readonly kind: string;
  readonly id: string;
}

/** One thing a client does. */
class Visit {
  readonly #options: VisitOptions;
  readonly random: Random;

  constructor(options: VisitOptions) {
    this.#options = options;
    this.random = options.traffic.random;
  }

  /** A completion: who gets a whole answer owes what it shows, who leaves may owe something, others nothing. */
  async complete(path: string, body: object, extra: Partial<Question> & { suffix?: string } = {}): Promise<Outcome> {
    const { tally, id } = this.#options;
    const requestId = `${id}${extra.suffix ?? ""}`;
    const outcome = await this.#send({
      method: "POST",
      path,
      body: JSON.stringify(body),
      leaveAfterBytes: extra.leaveAfterBytes ?? null,
      headers: { ...this.#keyHeaders(), "x-request-id": requestId, ...extra.headers },
    });
    const { cost, kind } = outcome;
    if (cost !== null) tally.expected.set(requestId, { exactly: cost });
    else tally.expected.set(requestId, kind === "left" ? { atMost: LEFT_NANO_MAX } : { exactly: 0n });
    if (kind === "stream without an end") this.violate(`${requestId}: a stream without an end and without an error`);
    return outcome;
  }

  async read(path: string): Promise<void> {
    const headers = path.startsWith("/api/")
      ? { authorization: `Bearer ${this.#options.traffic.adminToken}` }
      : this.#keyHeaders();
    const outcome = await this.#send({ method: "GET", path, headers, body: null, leaveAfterBytes: null });
    this.#expect(outcome, 200, path);
  }

  /** What costs nothing, and the status it must have. */
  async post(path: string, body: string, options: { status: number; key?: string }): Promise<void> {
    const authorization = `Bearer ${options.key ?? this.#options.traffic.key}`;
    const headers = { ...this.#keyHeaders(), authorization };
    const outcome = await this.#send({ method: "POST", path, headers, body, leaveAfterBytes: null });
    this.#expect(outcome, options.status, path);
  }

  /** Asks the repeated request to have cost nothing more. */
  isFree(suffix: string): void {
    this.#options.tally.expected.set(`${this.#options.id}${suffix}`, { exactly: 0n });
  }

  violate(words: string): void {
    this.#options.tally.violations.push(words);
  }

  /** Turned away for the moment is an answer too, as long as it is said so. */
  #expect({ status, kind }: Outcome, wanted: number, path: string): void {
    if (status !== wanted && status !== 503 && status !== 429 && status !== null) {
      this.violate(`${path}: ${kind}, not ${wanted}`);
    }
  }

  async #send(question: Question): Promise<Outcome> {
    const { traffic, tally, agent, kind } = this.#options;
    const outcome = await ask(traffic.url, agent, question);
    const name = `${kind}: ${outcome.kind}`;
    tally.outcomes.set(name, (tally.outcomes.get(name) ?? 0) + 1);
    if (outcome.status === 500) this.violate(`500 for ${question.path}: ${outcome.text.slice(0, 200)}`);
    // The last requests may meet a gateway that is being stopped from outside; before that no connection may break.
    if (outcome.kind.startsWith("connection ") && !traffic.isOver()) this.violate(`${name} (${question.path})`);
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

const KINDS = {
  chat: (visit) => visit.complete("/v1/chat/completions", chat(visit.random.pick(QUESTIONS))),
  "chat, streamed": (visit) => visit.complete("/v1/chat/completions", chat(visit.random.pick(QUESTIONS), streamed)),
  "chat, direct to a Messages provider": (visit) =>
    visit.complete("/v1/chat/completions", chat("Hello", { ...streamed, model: "gamma", service_profile: "direct" })),
  messages: (visit) => visit.complete("/v1/messages", chat(visit.random.pick(QUESTIONS), { max_tokens: 2000 })),
  "messages, streamed": (visit) =>
    visit.complete("/v1/messages", chat(visit.random.pick(QUESTIONS), { max_tokens: 2000, stream: true })),
  tools: (visit) => visit.complete("/v1/chat/completions", chat("Look at the weather", { tools: TOOLS, ...streamed })),
  "large body": (visit) =>
    visit.complete("/v1/chat/completions", chat("words ".repeat(2000 + visit.random.below(60_000)))),
  "leaves at once": (visit) => visit.complete("/v1/chat/completions", chat("Hello", streamed), { leaveAfterBytes: 0 }),
  "leaves in the middle": (visit) =>
    visit.complete("/v1/chat/completions", chat("Hello", streamed), { leaveAfterBytes: 1 + visit.random.below(2000) }),
  repeats: repeatOnce,
  debug: (visit) =>
    visit.post("/v1/routing/debug", JSON.stringify({ prompt: visit.random.pick(QUESTIONS) }), { status: 200 }),
  models: (visit) => visit.read("/v1/models"),
  dashboard: (visit) =>
    visit.read(
      visit.random.pick(["/api/requests?limit=50", "/api/usage?by=hour&group=model", "/api/credits", "/api/keys", "/"]),
    ),
  "not JSON": (visit) => visit.post("/v1/chat/completions", '{"model":', { status: 400 }),
  "wrong key": (visit) => visit.post("/v1/chat/completions", "{}", { status: 401, key: "sk-service-no" }),
} satisfies Readonly<Record<string, (visit: Visit) => Promise<unknown>>>;

type Kind = keyof typeof KINDS;

const WEIGHTS: Readonly<Record<Kind, number>> = {
  chat: 10,
  "chat, streamed": 14,
  "chat, direct to a Messages provider": 4,
  messages: 6,
  "messages, streamed": 8,
  tools: 4,
  "large body": 2,
  "leaves at once": 3,
  "leaves in the middle": 5,
  repeats: 3,
  debug: 3,
  models: 2,
  dashboard: 6,
  "not JSON": 2,
  "wrong key": 1,
};

const MIX = Object.entries(WEIGHTS).flatMap(([kind, weight]) => Array<Kind>(weight).fill(kind as Kind));

/** The same key and body twice: the same answer, and one charge. */
async function repeatOnce(visit: Visit): Promise<void> {
  const key = `key-${visit.random.below(2 ** 31)}-${visit.random.below(2 ** 31)}`;
  const options = { headers: { "idempotency-key": key } };
  const first = await visit.complete("/v1/chat/completions", chat("Hello"), { ...options, suffix: "-first" });
  if (first.cost === null) return;
  const second = await visit.complete("/v1/chat/completions", chat("Hello"), { ...options, suffix: "-second" });
  if (second.status !== 200) return;
  visit.isFree("-second");
  if (second.text !== first.text) visit.violate(`${key}: the repeated answer differs`);
}
