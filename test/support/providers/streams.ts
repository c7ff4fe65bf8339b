// A chat-completions stream as a client reads it.

export interface Json {
  readonly [field: string]: unknown;
}

interface StreamChunk extends Json {
  readonly choices: readonly {
    readonly delta: Json & { readonly content?: string };
    readonly finish_reason: unknown;
  }[];
  readonly usage?: unknown;
}

export interface ReadStream {
  readonly chunks: readonly StreamChunk[];
  readonly isDone: boolean;
  readonly error: Json | null;
}

export async function readStream(answer: Response): Promise<ReadStream> {
  const datas = (await answer.text())
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => event.slice("data: ".length));
  const objects = datas.filter((data) => data !== "[DONE]").map((data) => JSON.parse(data) as Json);
  const failure = objects.find((json) => "error" in json);
  return {
    chunks: objects.filter((json) => !("error" in json)) as StreamChunk[],
    isDone: datas.at(-1) === "[DONE]",
    error: (failure?.error as Json | undefined) ?? null,
  };
}
