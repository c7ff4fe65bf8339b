// A provider that lets everybody wait until it is told to answer, and answers at once from then on.

import { answers, type Exchange, type FakeProvider } from "../providers/fake-provider.ts";

export interface WaitingRoom {
  answerAll(): void;
}

export function openWaitingRoom(provider: FakeProvider, model: string): WaitingRoom {
  const waiting: Exchange[] = [];
  let isOver = false;
  provider.on(model, (exchange) => {
    if (isOver) return answers("ok")(exchange);
    waiting.push(exchange);
  });
  return {
    answerAll() {
      isOver = true;
      for (const exchange of waiting.splice(0)) void answers("ok")(exchange);
    },
  };
}
