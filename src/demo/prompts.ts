// Prompts and answers of the demo: templates with slots, in groups that come up about as often as in real traffic. Some
// are conversations of several turns.

import type { ChatMessage, ChatRequest, Tool } from "../core/chat.ts";
import type { NewContent } from "../core/requests/records.ts";
import { promptTextOf } from "../telemetry/prompt-text.ts";
import type { DemoRandom } from "./random.ts";

const PASSAGES = [
  "The council met on Tuesday to vote on the harbour plan. After four hours it passed by nine votes to six. Works begin in spring and are to last three years; the ferry will run from the old pier meanwhile.",
  "Sales rose by 8% in the third quarter, driven by the northern region. Costs rose faster, mainly freight. The board keeps its forecast but will open only two of the four planned stores.",
  "The study followed 1,200 adults for six years. Those who walked daily slept better, but the effect faded when they stopped. The authors warn that people who walk may differ in other ways.",
];

/** Sentences of long instructions. */
const RULES = [
  "say what you know, and say so when you do not.",
  "never promise a refund; name the page where the customer can ask for one.",
  "keep the public interface, and write a test for every change.",
  "name the file and the line that a remark is about.",
  "leave names, figures and dates as they were given.",
];

function documentOf(passages: number): string {
  return Array.from({ length: passages }, (_, at) => PASSAGES[at % PASSAGES.length]).join("\n\n");
}

/** Words for the `{slots}` of the templates. */
const SLOTS: Readonly<Record<string, readonly string[]>> = {
  greeting: ["Hi", "Hello there", "Hey", "Good morning", "Good evening"],
  topic: [
    ...["photosynthesis", "compound interest", "the tides", "vaccines", "inflation", "black holes", "the water cycle"],
    ...["plate tectonics", "public-key encryption", "the immune system", "jet engines", "sourdough", "glaciers"],
  ],
  country: ["France", "Japan", "Kenya", "Peru", "Norway", "Vietnam", "Canada", "Egypt", "Portugal", "New Zealand"],
  language: ["French", "German", "Spanish", "Japanese", "Portuguese", "Italian", "Polish", "Turkish"],
  code: ["Python", "TypeScript", "Go", "Rust", "Java", "SQL", "Kotlin", "C#"],
  number: ["7", "12", "19", "24", "37", "48", "64", "81", "96", "125", "240", "365", "999"],
  product: ["a bakery app", "a bike-sharing service", "a tax helper", "a chess club site", "an e-mail client"],
  person: ["my manager", "a customer", "the landlord", "my team", "a new colleague", "the school"],
  sentence: [
    "The meeting has been moved to Thursday afternoon.",
    "Your parcel is waiting at the post office until Friday.",
    "We are sorry for the delay and will refund the shipping costs.",
    "The new version is faster and uses half the memory.",
    "Please water the plants while we are away.",
  ],
  passage: PASSAGES,
  document: Array.from({ length: 3 }, (_, index) => documentOf(60 + 40 * index)),
  system: ["a payments system", "a chat service", "a video platform", "a booking engine", "a metrics pipeline"],
  bug: ["a race condition", "a memory leak", "an off-by-one error", "a deadlock", "a slow query", "a flaky test"],
  structure: ["a linked list", "a binary tree", "a priority queue", "an LRU cache", "a trie", "a ring buffer"],
  city: ["Paris", "Lima", "Oslo", "Hanoi", "Nairobi", "Toronto", "Lisbon", "Cairo", "Osaka", "Porto"],
  scale: ["ten thousand", "a million", "fifty million", "two hundred million"],
};

/** Weights of the groups: code and everyday questions come up most. */
export const EVERYDAY: GroupWeights = [
  ["chitchat", 8],
  ["question", 18],
  ["summary", 10],
  ["translation", 8],
  ["writing", 9],
  ["code", 24],
  ["maths", 5],
  ["design", 10],
  ["tools", 8],
];

/** Questions to a help desk. */
export const SUPPORT: GroupWeights = [
  ["chitchat", 12],
  ["question", 38],
  ["writing", 22],
  ["translation", 10],
  ["tools", 18],
];

/** Jobs that run over night, each with a document. */
export const BATCH: GroupWeights = [
  ["reports", 40],
  ["localisation", 35],
  ["product texts", 25],
];

export type DemoGroup = keyof typeof TEMPLATES;
export type GroupWeights = readonly (readonly [DemoGroup, number])[];

const TEMPLATES = {
  chitchat: [
    "{greeting}!",
    "{greeting}, how are you today?",
    "Thanks, that was helpful!",
    "{greeting}, tell me a joke about {topic}.",
    "ok, great",
    "What should I cook tonight?",
  ],
  question: [
    "What is {topic}?",
    "What is the capital of {country}?",
    "How many people live in {country}?",
    "Explain {topic} to a ten-year-old.",
    "When is the best time to visit {country}?",
    "Why does {topic} matter?",
    "Name three facts about {country}.",
    "What is the difference between {topic} and {topic}?",
    "Is it true that {country} has more than {number} national parks?",
    "Which language is spoken in {country}?",
  ],
  summary: [
    "Summarise in one sentence: {passage}",
    "Give me the three main points of this text.\n\n{passage}\n\n{passage}",
    "TL;DR\n\n{passage}",
    "Extract every number in this text as JSON: {passage}",
    "Write a headline for this: {passage}",
    "Which decisions does this text name, and who took them?\n\n{passage} {passage}",
  ],
  translation: [
    "Translate into {language}: {sentence}",
    "How do you say '{sentence}' in {language}?",
    "Translate this to {language}, formal register:\n\n{passage}",
    "Is this correct {language}, and if not, why? {sentence}",
    "Translate into {language} and then back into English: {sentence} {sentence}",
  ],
  writing: [
    "Write a short e-mail to {person} about this: {sentence}",
    "Make this friendlier: {sentence}",
    "Write a poem about {topic} in {country}.",
    "Write a product description for {product}, {number} words.",
    "Suggest five names for {product}.",
    "Write a short story in which {topic} saves the day in {city}.",
    "Rewrite for {person}: {passage}",
  ],
  code: [
    "Write a {code} function that reverses a string.",
    "Implement {structure} in {code} with tests.",
    "Find {bug} in this {code} service: two workers read the same queue and both acknowledge before they commit. Show the fix.",
    "Write a regular expression that matches an IPv4 address.",
    "Explain this error in {code}: index {number} out of range.",
    "Refactor this {code} module of {number} functions into smaller parts and explain each step, keeping the public interface.",
    "How do I read a file line by line in {code}?",
    "Write a {code} script that deletes files older than {number} days.",
    "Review this {code} change for {bug}; it takes a lock, calls a remote service, then writes to the database.",
  ],
  maths: [
    "What is {number} * {number}?",
    "What is {number} % of {number}?",
    "Solve for x: {number}x + {number} = {number}.",
    "Prove that the square root of {number} plus the square root of 2 is irrational, or show that it is not.",
    "A train leaves {city} at {number} km/h and another follows an hour later at {number} km/h. When do they meet?",
    "Derive the expected number of throws of a die until {number} different pairs of faces were seen, step by step.",
  ],
  design: [
    "Design the architecture of {system} for {scale} users: data model, consistency, failure modes, rollout and cost. Compare two options and justify the choice.",
    "Plan the migration of {system} from one database to another without downtime, with a way back at every step.",
    "Design a rate limiter for {system} that works across regions, and analyse what happens when a region is cut off.",
    "Compare event sourcing with plain tables for {system} with {scale} events a day; think it through step by step.",
    "Write a threat model for {system} and rank the {number} most serious risks.",
    "Propose a sharding scheme for {system} that survives hot keys; prove that no write is lost when a shard moves.",
  ],
  tools: [
    "What is the weather in {city}?",
    "Find flights from {city} to {city} and book the cheapest one.",
    "What time is it in {city} and in {city}?",
    "Send {person} this message: {sentence}",
    "Look up order {number} and refund it if it is late.",
  ],
  reports: ["Summarise this report in {number} words.\n\n{document}", "TL;DR\n\n{document}"],
  localisation: ["Translate into {language}, formal register:\n\n{document}"],
  "product texts": [
    "Write a product description for {product}, {number} words, warm and a little funny. Mention this: {sentence}",
    "Write three slogans and a short, playful advert for {product} in {city}. Mention {topic}.",
  ],
} as const;

/** Answers that fit any prompt of their group. */
const ANSWERS: Readonly<Record<DemoGroup, readonly string[]>> = {
  chitchat: ["{greeting}! How can I help you today?", "You're welcome! Anything else I can do?"],
  question: [
    "In short: it depends on where you look. The best-known example is in {country}, and {topic} plays a part in it.",
    "Think of {topic}: the same idea applies here, only on a smaller scale.",
  ],
  summary: ["- {sentence}\n- The numbers went up, and so did the costs.\n- A decision follows in spring."],
  translation: ["Here is the translation into {language}, in a neutral register. Tell me if it should sound warmer."],
  writing: ["Subject: A quick note\n\n{sentence} Let me know if that works for you.\n\nBest regards"],
  code: [
    '```ts\nexport function reverse(text: string): string {\n  return [...text].reverse().join("");\n}\n```\nSpreading keeps surrogate pairs together.',
    "The cause is {bug}: both workers acknowledge before they commit. Commit first, then acknowledge.",
  ],
  maths: ["Step by step: isolate the unknown, divide both sides, check the result. The answer is {number}."],
  design: [
    "Start with one primary per region and a log that both read. For {scale} users that is enough for a year. Then shard by customer, because {bug} hurts most across tenants.",
  ],
  tools: ["I looked it up: it is mild in {city}, and order {number} left the warehouse this morning."],
  reports: ["- {sentence}\n- Costs rose faster than sales.\n- Two of the four stores open in spring."],
  localisation: ["Here is the text in {language}. Names and figures are as in the original."],
  "product texts": ["Meet {product}: made for {city}, ready in a minute, and yours for less than you think."],
};

/** Characters of a text that are kept, so that thousands of requests with the same instructions stay small. */
const KEPT_CHARS = 1_500;

/** Prompt and answer, as content logging keeps them, but with long texts cut. */
function contentOf(chat: ChatRequest, answer: string): NewContent {
  const tools = chat.tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }));
  const messages = chat.messages.map((message) => ({ ...message, content: kept(String(message.content)) }));
  const body = { model: "auto", messages, ...(tools.length === 0 ? {} : { tools }) };
  const { prompt, preview } = promptTextOf({ messages });
  return { prompt, preview, request: JSON.stringify(body), isRequestCut: false, answer, isAnswerCut: false };
}

function kept(text: string): string {
  return text.length > KEPT_CHARS ? `${text.slice(0, KEPT_CHARS)}…` : text;
}

/** Instructions of applications: the first words, and the characters of the rules that follow. */
const SYSTEM_PROMPTS = {
  shop: systemPrompt("You are the assistant of a web shop. Answer briefly.", 40_000),
  engineers: systemPrompt("You support engineers. The rules and files of the repository follow.", 320_000),
  helpdesk: systemPrompt("You are the help desk. Be polite, and answer in the customer's language.", 60_000),
  jobs: systemPrompt("You work on documents. Answer with the text alone.", 12_000),
} as const;

type SystemPrompt = keyof typeof SYSTEM_PROMPTS;

/** Work on a repository brings its rules and files along. */
const REPOSITORY_GROUPS: readonly DemoGroup[] = ["code", "design"];

function systemPrompt(opening: string, chars: number): string {
  const lines = [opening];
  for (let length = 0, rule = 1; length < chars; rule++) {
    const line = `Rule ${rule}: ${RULES[rule % RULES.length]}`;
    lines.push(line);
    length += line.length;
  }
  return lines.join("\n");
}

const TOOLS: readonly Tool[] = [
  tool("get_weather", "The weather in a city now", ["city"]),
  tool("search_flights", "Flights between two cities", ["from", "to"]),
  tool("book_flight", "Books a flight by its id", ["flightId"]),
  tool("send_message", "Sends a message to a person", ["person", "text"]),
  tool("find_order", "An order by its number", ["number"]),
];

/** Number of templates in all groups. */
export const TEMPLATE_COUNT = Object.values(TEMPLATES).reduce((sum, group) => sum + group.length, 0);

/** Interactive clients stream; the rest waits for the whole answer. */
const STREAM_SHARE = 0.985;

/** Texts that people send after an answer. */
const FOLLOW_UPS: Readonly<Partial<Record<DemoGroup, readonly string[]>>> = {
  code: ["Now add tests.", "Rewrite it in {code}.", "Could that cause {bug}?", "Explain the second step."],
  translation: ["And in {language}?", "Make it less formal.", "Now this one: {sentence}"],
};
const ANY_FOLLOW_UPS: readonly string[] = [
  "Make it shorter.",
  "Give me an example.",
  "And what about {country}?",
  "Explain the last point again.",
  "Thanks! Now the same for {topic}.",
];
/** Texts that make the router look for a stronger model. */
const COMPLAINTS: readonly string[] = [
  "No, that is wrong. Try again.",
  "That did not work: it still fails with index {number} out of range.",
];
const COMPLAINT_SHARE = 0.02;

/** One request of a conversation, with what came back. */
export interface DemoTurn {
  readonly group: DemoGroup;
  readonly chat: ChatRequest;
  readonly content: NewContent;
  /** Size of the whole request. */
  readonly bodyBytes: number;
}

/** The prompts that a source of traffic sends. */
export interface DemoPrompts {
  /** Most turns of a conversation. */
  readonly turnsMax: number;
  readonly groups: GroupWeights;
  /** Instructions before every prompt; null for none. */
  readonly system: SystemPrompt | null;
}

/** A conversation with or without a system prompt and tools. Half of them have just one turn. */
export function demoConversation(prompts: DemoPrompts, random: DemoRandom): readonly DemoTurn[] {
  const { turnsMax } = prompts;
  const group = random.pickWeighted(prompts.groups);
  const tools = group === "tools" ? TOOLS.slice(0, 1 + random.below(TOOLS.length)) : [];
  const isStream = random.next() < STREAM_SHARE;
  const maxOutputTokens = random.next() < 0.3 ? random.pick([256, 512, 1024, 2048]) : null;
  const count = turnsMax === 1 || random.next() < 0.5 ? 1 : 2 + random.below(turnsMax - 1);
  let messages = openingOf(systemOf(prompts.system, group), random);
  return Array.from({ length: count }, (_, turn) => {
    const templates = turn === 0 ? TEMPLATES[group] : followUpsOf(group, random);
    const asked: readonly ChatMessage[] = [
      ...messages,
      { role: "user", content: fill(random.pick(templates), random) },
    ];
    const answer = fill(random.pick(ANSWERS[group]), random);
    messages = [...asked, { role: "assistant", content: answer }];
    const chat: ChatRequest = {
      ...{ messages: asked, tools, toolChoice: undefined, isStream },
      ...{ wantsUsage: false, maxOutputTokens, choiceCount: 1 },
    };
    return { group, chat, content: contentOf(chat, answer), bodyBytes: JSON.stringify(asked).length };
  });
}

function followUpsOf(group: DemoGroup, random: DemoRandom): readonly string[] {
  if (random.next() < COMPLAINT_SHARE) return COMPLAINTS;
  return FOLLOW_UPS[group] ?? ANY_FOLLOW_UPS;
}

function systemOf(usual: SystemPrompt | null, group: DemoGroup): SystemPrompt | null {
  return usual !== null && REPOSITORY_GROUPS.includes(group) ? "engineers" : usual;
}

function openingOf(system: SystemPrompt | null, random: DemoRandom): readonly ChatMessage[] {
  const messages: ChatMessage[] = [];
  if (system !== null) messages.push({ role: "system", content: SYSTEM_PROMPTS[system] });
  if (random.next() < 0.2) {
    messages.push({ role: "user", content: fill("What is {topic}?", random) });
    messages.push({ role: "assistant", content: fill("In short: {sentence}", random) });
  }
  return messages;
}

function fill(template: string, random: DemoRandom): string {
  return template.replace(/\{(\w+)\}/g, (_, slot: string) => random.pick(SLOTS[slot] as readonly string[]));
}

function tool(name: string, description: string, required: readonly string[]): Tool {
  const properties = Object.fromEntries(required.map((property) => [property, { type: "string" }]));
  return { name, description, parameters: { type: "object", properties, required } };
}
