// Habits, learned from the turns that come by: how many turns the conversations of an application have, how long they
// pause, how long their answers are, how much models think for them, and how far each host really reads from its cache.
// Bounded, and the same in every process that has learned the same turns.

import type { Effort } from "../../core/requests/effort.ts";
import type { CacheHabit, Habit, SessionTurn } from "../../core/session.ts";
import { THINKING_TOKENS } from "../../routing/cost.ts";
import { Generations } from "./generations.ts";

/** Facts of the request in question. */
interface HabitQuestion {
  readonly app: number;
  readonly hasTools: boolean;
  /** True when the prompt has an answer in it. */
  readonly isContinued: boolean;
  /** The last turn of the session. */
  readonly last: SessionTurn | null;
  readonly nowMs: number;
}

export interface Habits {
  /** `before`: the turn of the same session that was known until now. */
  note(turn: SessionTurn, before: SessionTurn | undefined): void;
  of(question: HabitQuestion): Habit;
}

interface AppHabit {
  /** Conversations that came to the first turn, the second, and so on. */
  readonly reached: number[];
  steady: number;
  steadyCount: number;
  alive: number;
  aliveCount: number;
  output: number;
  outputCount: number;
  /** Part of what the efforts usually cost that the models thought. */
  thoughtShare: number;
  thoughtCount: number;
  /** Mean tokens of thinking by model and effort. */
  readonly thoughts: Map<string, { tokens: number; count: number }>;
}

const APPS_MAX = 5_000;
const TURNS_KEPT = 12;
/** Models at an effort that one application is known by. */
const THINKERS_MAX = 12;
/** Priors, set by hand: the chance that another turn follows, that the prefix stays, that the pause is short. */
const PRIOR = {
  tools: 0.9,
  toolsLater: 0.95,
  continued: 0.75,
  plain: 0.25,
  steady: 0.95,
  alive: 0.9,
  hit: 0.95,
} as const;
/** Turns that a prior stands for, and the most that what was seen before stands for. */
const PRIOR_TURNS = 2;
const SEEN_MAX = 12;
/** A pause up to this length leaves most caches alive. */
const SHORT_PAUSE_S = 300;
const LATER_MAX = 0.98;
/** However long conversations were before. */
const AHEAD_MAX = 40;

export function createHabits(): Habits {
  const apps = new Generations<number, AppHabit>(APPS_MAX);
  const hits = new Map<string, { rate: number; count: number }>();
  let sumOfHits: number = PRIOR.hit;
  // A host that was never observed is expected to be like those that were.
  const cacheOf = (hostKey: string): CacheHabit => ({
    hit: hits.get(hostKey)?.rate ?? sumOfHits / (1 + hits.size),
  });
  return {
    note(turn, before) {
      const { app, number = 1, share, hostKey } = turn;
      if (app === undefined) return;
      const known = apps.get(app);
      const habit = known ?? newHabit();
      if (known === undefined) apps.set(app, habit);
      for (let place = before?.number ?? 0; place < Math.min(number, TURNS_KEPT); place++) {
        habit.reached[place] = (habit.reached[place] ?? 0) + 1;
      }
      noteTurn(habit, turn);
      if (share === undefined) return;
      const observed = hits.get(hostKey);
      const { rate, count } = observed ?? { rate: PRIOR.hit, count: 1 };
      const now = (rate * count + share) / (count + 1);
      sumOfHits += now - (observed?.rate ?? 0);
      hits.set(hostKey, { rate: now, count: Math.min(SEEN_MAX, count + 1) });
    },
    of({ app, hasTools, isContinued, last, nowMs }) {
      const habit = apps.get(app);
      const gaps = gapsOf(last, nowMs);
      const prior = hasTools ? PRIOR.tools : isContinued ? PRIOR.continued : PRIOR.plain;
      const next = chanceOfNext(habit, last?.number ?? 0, prior);
      const later = chanceLater(habit, hasTools ? PRIOR.toolsLater : prior);
      const ahead = Math.min(AHEAD_MAX, next / (1 - Math.min(LATER_MAX, later)));
      const output = habit === undefined || habit.outputCount < PRIOR_TURNS ? null : habit.output;
      const alive = (seconds: number): number => {
        const learned = habit?.alive ?? PRIOR.alive;
        // Longer pauses are not learned, and a cache that lives longer is alive at least as often.
        const before = seconds > SHORT_PAUSE_S ? Math.max(learned, PRIOR.alive) : learned;
        let short = 0;
        for (const gap of gaps) if (gap < seconds) short += 1;
        return (before + short) / (1 + gaps.length);
      };
      const thought = (model: string, effort: Effort | null, usual: number) =>
        expectedThinking(habit, thinkerOf(model, effort), usual);
      return { next, ahead, outputTokens: output, thought, steady: habit?.steady ?? PRIOR.steady, alive, cacheOf };
    },
  };
}

function newHabit(): AppHabit {
  const { steady, alive } = PRIOR;
  const thought = { thoughtShare: 1, thoughtCount: 1, thoughts: new Map() };
  return { reached: [], steady, steadyCount: 1, alive, aliveCount: 1, output: 0, outputCount: 0, ...thought };
}

function noteTurn(habit: AppHabit, turn: SessionTurn): void {
  const { isSteady, gaps = [], output = 0, thought = 0 } = turn;
  if (isSteady !== undefined) {
    habit.steady = (habit.steady * habit.steadyCount + (isSteady ? 1 : 0)) / (habit.steadyCount + 1);
    habit.steadyCount = Math.min(SEEN_MAX, habit.steadyCount + 1);
  }
  const gap = gaps.at(-1);
  if (gap !== undefined) {
    habit.alive = (habit.alive * habit.aliveCount + (gap < SHORT_PAUSE_S ? 1 : 0)) / (habit.aliveCount + 1);
    habit.aliveCount = Math.min(SEEN_MAX, habit.aliveCount + 1);
  }
  if (output === 0) return;
  habit.output = (habit.output * habit.outputCount + output - thought) / (habit.outputCount + 1);
  habit.outputCount = Math.min(SEEN_MAX, habit.outputCount + 1);
  noteThinking(habit, turn, thought);
}

function thinkerOf(model: string, effort: Effort | null): string {
  return `${model}@${effort ?? ""}`;
}

/** Many hosts do not count thinking. Where a model was never seen to think, a zero says nothing. */
function noteThinking(habit: AppHabit, { model, effort }: SessionTurn, thought: number): void {
  const name = thinkerOf(model, effort ?? null);
  const known = habit.thoughts.get(name);
  if (thought === 0 && known === undefined) return;
  const { tokens, count } = known ?? { tokens: 0, count: 0 };
  if (known === undefined && habit.thoughts.size >= THINKERS_MAX) habit.thoughts.clear();
  const mean = (tokens * count + thought) / (count + 1);
  habit.thoughts.set(name, { tokens: mean, count: Math.min(SEEN_MAX, count + 1) });
  const usual = effort === undefined ? 0 : THINKING_TOKENS[effort];
  if (usual === 0) return;
  habit.thoughtShare = (habit.thoughtShare * habit.thoughtCount + thought / usual) / (habit.thoughtCount + 1);
  habit.thoughtCount = Math.min(SEEN_MAX, habit.thoughtCount + 1);
}

/** A model that was not seen here is expected to think as much for this application as others did, by its effort. */
function expectedThinking(habit: AppHabit | undefined, thinker: string, usual: number): number {
  if (habit === undefined) return usual;
  const { tokens, count } = habit.thoughts.get(thinker) ?? { tokens: 0, count: 0 };
  return (tokens * count + usual * habit.thoughtShare * PRIOR_TURNS) / (count + PRIOR_TURNS);
}

/** `turns`: that the conversation has had before this one. */
function chanceOfNext(habit: AppHabit | undefined, turns: number, prior: number): number {
  const place = Math.min(turns, TURNS_KEPT - 2);
  const [here, later] = [habit?.reached[place] ?? 0, habit?.reached[place + 1] ?? 0];
  return (later + prior * PRIOR_TURNS) / (here + PRIOR_TURNS);
}

function chanceLater(habit: AppHabit | undefined, prior: number): number {
  let later = 0;
  let all = 0;
  habit?.reached.forEach((count, place) => {
    if (place > 0) later += count;
    if (place < TURNS_KEPT - 1) all += count;
  });
  return (later + prior * PRIOR_TURNS) / (all + PRIOR_TURNS);
}

/** The pauses of the session, this one too. */
function gapsOf(last: SessionTurn | null, nowMs: number): readonly number[] {
  return last === null ? [] : [...(last.gaps ?? []), (nowMs - last.atMs) / 1000];
}
