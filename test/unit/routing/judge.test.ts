// How hard a request is, from its parts: system prompt, question, pasted material, images.

import { describe, expect, it, test } from "vitest";
import { readWeights } from "../../../src/catalog/weights.ts";
import type { ChatMessage, ChatRequest, Tool } from "../../../src/core/chat.ts";
import { type Tier, tierRank } from "../../../src/core/tiers.ts";
import { newestAsk } from "../../../src/routing/ask.ts";
import { judge } from "../../../src/routing/judge.ts";
import { partText } from "../../../src/routing/parts.ts";

const weights = readWeights();

function judged(messages: readonly ChatMessage[], tools: readonly Tool[] = []) {
  return judge({ messages, tools } as unknown as ChatRequest, newestAsk(messages), weights);
}

const tierOf = (user: NonNullable<ChatMessage["content"]>, system?: string): Tier =>
  judged([
    ...(system === undefined ? [] : [{ role: "system", content: system } as const]),
    { role: "user", content: user },
  ]).classification.tier;

const CONSENSUS =
  "Consider a replicated state machine over an asynchronous network. We prove that no deterministic protocol guarantees both safety and liveness if one process may crash, and design a randomized protocol that terminates with probability one.";

describe("a system prompt with one simple task", () => {
  test.each([
    [
      "Decide whether the message is spam. Answer with one word: spam or ham.",
      `Dear beneficiary, prove your identity and derive the fee. ${CONSENSUS}`,
    ],
    [
      "Classify the sentiment as positive, neutral or negative. Return JSON.",
      "The consensus algorithm lost writes, and we had to prove to auditors that our invariants were violated.",
    ],
    ["Translate the user's message from English to German. Keep the tone.", CONSENSUS],
    [
      "Correct the grammar of the user's text. Output only the corrected text.",
      "We has proved that the algorithm are optimal under the constraint that no cycles is negative.",
    ],
    [
      "Label the question: billing, technical or other. Reply with the label only.",
      "How should we design the failover so that linearizability is preserved under partitions?",
    ],
    [
      "Klassifiziere die Anfrage als Rechnung, Technik oder Sonstiges. Nur das Wort.",
      "Entwerfen Sie eine Architektur mit formalem Beweis der Sicherheit bei Netzpartitionen.",
    ],
    [
      "请对用户的文本进行分类：科技、体育、财经。只输出类别。",
      "我们证明了该分布式算法在异步网络下的下界，并设计了最优的容错架构。",
    ],
    [
      "Extract date, amount and currency as JSON.",
      "After analysing the hedge under several constraints, the counterparty settled 1,200 EUR on 3 May 2026.",
    ],
  ])("%s", (system, user) => {
    expect(tierRank(tierOf(user, system))).toBeLessThanOrEqual(tierRank("LIGHT"));
    expect(
      judged([
        { role: "system", content: system },
        { role: "user", content: user },
      ]).parts,
    ).toContainEqual(expect.objectContaining({ part: "system" }));
  });

  it("lowers nothing where anything may be asked, or where the client brings tools", () => {
    const open = "You are a helpful assistant. You can summarize documents, translate and answer questions.";
    const narrow = "You are our product's assistant. Only answer questions about it; you can summarize pages as JSON.";
    const career = "You review the resume of each candidate for a senior post.";
    for (const system of [open, narrow, career])
      expect(tierOf("Prove that there is no largest prime.", system)).toBe("COMPLEX");
    const closed = [
      { role: "system", content: "Classify each file. One word only." },
      { role: "user", content: "Prove that there is no largest prime." },
    ] as const;
    expect(judged(closed).classification.tier).toBe("LIGHT");
    expect(judged(closed, [{ name: "read", description: "", parameters: null }]).classification.tier).toBe("COMPLEX");
  });

  it("is not read where it is as long as an agent's", () => {
    const system = `Classify each file. One word only. ${"Keep to the style of the house. ".repeat(100)}`;
    expect(tierOf("Prove that there is no largest prime.", system)).toBe("COMPLEX");
  });
});

describe("a system prompt with a hard task", () => {
  test.each([
    ["You are a theorem prover. Prove each statement that the user sends.", "There is no largest prime."],
    [
      "You are a database architect. Design a sharding strategy with consistency analysis for each workload.",
      "a chat app, 50 million users",
    ],
    ["You are a formal verification engineer. Write a specification and prove its invariants.", "two phase commit"],
    [
      "You are a senior tax lawyer. Analyse every constraint in the treaties and derive the optimal structure.",
      "holding in Luxembourg, operations in Brazil",
    ],
  ])("%s", (system, user) => {
    expect(tierRank(tierOf(user))).toBeLessThan(tierRank("COMPLEX"));
    expect(tierRank(tierOf(user, system))).toBeGreaterThanOrEqual(tierRank("STANDARD"));
  });

  test.each(["thanks!", "hello", "great, thank you so much"])("leaves small talk alone: %s", (user) => {
    expect(tierRank(tierOf(user, "You are a theorem prover. Prove each statement."))).toBeLessThanOrEqual(
      tierRank("SIMPLE"),
    );
  });
});

const RULES = [
  "The notice period is three months to the end of a quarter. During probation it is two weeks.",
  "Remote work from abroad is approved by people operations, who evaluate tax and data protection constraints.",
  "Deviations are analysed by the manager, who derives measures and documents why they were necessary.",
  "Expenses above 500 euros need prior approval by the budget owner, and are reimbursed within 30 days.",
];
const handbook = (characters: number): string => {
  let text = "";
  for (let at = 0; text.length < characters; at++) text += `${at + 1}. ${RULES[at % RULES.length]}\n\n`;
  return text.slice(0, characters);
};

describe("pasted material", () => {
  test.each([500, 3_000, 12_000])("of %i characters makes a lookup at most LIGHT", (characters) => {
    const question = "What is the notice period in the contract?";
    const material = handbook(characters);
    for (const text of [
      `${material}\n\n${question}`,
      `${question}\n\n${material}`,
      `<context>\n${material}\n</context>\n\n${question}`,
      `Context:\n${material}\n\nQuestion: ${question}`,
    ])
      expect(tierRank(tierOf(text))).toBeLessThanOrEqual(tierRank("LIGHT"));
  });

  it("is named in the parts, and keeps a hard question hard", () => {
    const hard = `${handbook(3_000)}\n\nProve rigorously that the policy in the document is inconsistent.`;
    const { classification, parts } = judged([{ role: "user", content: hard }]);
    expect(classification.tier).toBe("COMPLEX");
    expect(parts).toEqual([
      { part: "question", tier: "COMPLEX" },
      { part: "context", tier: expect.any(String), characters: expect.any(Number) },
    ]);
  });

  it("is not what a sum, a short text or solved examples are told in", () => {
    for (const text of [
      "What is the notice period?",
      `${"Sam assembles a widget in ten minutes. ".repeat(12)}How many widgets does he assemble in eight hours?`,
    ])
      expect(judged([{ role: "user", content: text }]).parts).toEqual([]);
  });

  it("is found in time that grows with the text, whatever the text is", () => {
    for (const piece of ["<a>", "<a ", "```\n", '"""', "\n\n", "a? ", "context: ", "question:"]) {
      const started = process.cpuUsage();
      for (let times = 0; times < 5; times++) partText(piece.repeat(12_288 / piece.length));
      const { user, system } = process.cpuUsage(started);
      expect(user + system).toBeLessThan(500_000);
    }
  });
});

describe("an image", () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } } as const;
  it("is one tier more where something is worked out from it", () => {
    const text = "Read this circuit diagram and calculate the output voltage";
    const [alone, seen] = [tierOf(text), tierOf([{ type: "text", text }, image])];
    expect(tierRank(seen)).toBe(Math.min(4, tierRank(alone) + 1));
  });

  it("is never small talk, and a look at it costs no tier", () => {
    expect(tierOf([{ type: "text", text: "hi" }, image])).toBe("SIMPLE");
    const text = "What is in this picture?";
    expect(tierOf([{ type: "text", text }, image])).toBe(tierOf(text));
  });
});

test("a system prompt that came before says the same, with other weights and after hundreds of others", () => {
  const under = (system: string, by: typeof weights | null) => {
    const messages: readonly ChatMessage[] = [
      { role: "system", content: system },
      { role: "user", content: CONSENSUS },
    ];
    return judge({ messages, tools: [] } as unknown as ChatRequest, newestAsk(messages), by);
  };
  const SYSTEM = "Decide whether the message is spam. Answer with one word: spam or ham.";
  const [learned, ruled] = [under(SYSTEM, weights), under(SYSTEM, null)];
  expect(learned).not.toEqual(ruled);
  for (let at = 0; at < 600; at++) under(`Translate the text for reader ${at}.`, null);
  expect([under(SYSTEM, weights), under(SYSTEM, null), under(SYSTEM, weights)]).toEqual([learned, ruled, learned]);
  expect(under("You are a helpful assistant.", weights).parts).toEqual([]);
});
