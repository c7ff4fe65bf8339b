// The stream of a call whose model may search, as one stream: calls of the search function are taken out of it, and when a
// round ends with nothing but such calls, the searches and the next round follow in the same stream.

import { GatewayError } from "../../core/errors.ts";
import type { SearchStep } from "../../core/search/web-search.ts";
import type { ChatChunk, ProviderFault, StreamProgress } from "../../formats/format.ts";
import { faultOf } from "../../formats/provider/faults.ts";
import { cutShortChunk, RoundReader, stepChunk } from "../../formats/tools/search-rounds.ts";
import type { TransportFailure } from "../../providers/transport.ts";
import type { Unanswered } from "../attempt/attempt.ts";
import type { OpenStream } from "../attempt/try-model.ts";
import type { Received } from "../attempt/verdict.ts";
import type { Services } from "../services.ts";
import * as TEXT from "../text.ts";
import type { SearchRounds } from "./rounds.ts";

export function searchingStream(
  first: OpenStream,
  rounds: SearchRounds,
  services: Pick<Services, "health">,
): OpenStream {
  const stream = new SearchingStream(first, rounds, services);
  return { reader: stream, body: stream, head: stream.begin(), isAtEnd: false };
}

/** Stands for chunks that wait, where bytes are expected. */
const WAITING = Buffer.alloc(0);

class SearchingStream {
  #inner: OpenStream;
  #said = new RoundReader();
  readonly #rounds: SearchRounds;
  readonly #health: Services["health"];
  #waiting: ChatChunk[] = [];
  #isInnerOver: boolean;
  /** Searches of the round that are still to be run, and those that were. */
  #open: SearchStep[] | null = null;
  #steps: SearchStep[] = [];
  /** The step that is being run. */
  #running: AsyncGenerator<SearchStep> | null = null;
  #fault: ProviderFault | null = null;
  #failure: TransportFailure | null = null;
  #hasSearched = false;
  #hasText = false;
  /** Set from the question for the next round until that round is read: the one before is added up. */
  #isAsking = false;
  /** The beginning of a round that its client left. */
  #begun: Received | null = null;
  /** Says that the answer ends with what is there. */
  #isCutShort = false;
  /** Reports a later round to health; the first one is reported by the relay. */
  #ended: () => void = () => undefined;

  constructor(first: OpenStream, rounds: SearchRounds, { health }: Pick<Services, "health">) {
    this.#inner = first;
    this.#rounds = rounds;
    this.#health = health;
    this.#isInnerOver = first.isAtEnd;
  }

  begin(): readonly ChatChunk[] {
    return this.#filtered(this.#inner.head);
  }

  get progress(): StreamProgress {
    if (this.#isAsking) return this.#progressBetween;
    const inner = this.#inner.reader.progress;
    const goesOn = this.#goesOn;
    const isPlain = !this.#hasSearched && !this.#said.hasSearches;
    return {
      ...inner,
      isFinished: inner.isFinished && !goesOn,
      isDone: inner.isDone && !goesOn && this.#waiting.length === 0,
      isEndInSight: inner.isEndInSight && !goesOn,
      usage: isPlain ? inner.usage : this.#rounds.usageWith(inner),
      fault: this.#fault ?? inner.fault,
    };
  }

  /** Everything up to the question for the next round. */
  get #progressBetween(): StreamProgress {
    const isFinished = this.#isCutShort;
    return {
      hasContent: true,
      isFinished,
      isDone: isFinished && this.#waiting.length === 0,
      usage: this.#rounds.usage(this.#begun),
      isCounted: true,
      fault: this.#fault,
      outputTokens: 0,
      isEndInSight: false,
    };
  }

  toolCallIds(): readonly string[] {
    return this.#inner.reader.toolCallIds();
  }

  push(bytes: Uint8Array): readonly ChatChunk[] {
    return bytes === WAITING ? this.#taken() : this.#filtered(this.#inner.reader.push(bytes));
  }

  end(): readonly ChatChunk[] {
    return this.#taken();
  }

  tryRead(): Buffer | null | undefined {
    return this.#waiting.length > 0 ? WAITING : undefined;
  }

  /** The next bytes of the round; between rounds, the chunks that tell of its searches. */
  async read(): Promise<Buffer | null> {
    if (this.#waiting.length > 0) return WAITING;
    if (!this.#isInnerOver && !this.#inner.reader.progress.isDone) {
      const known = this.#inner.body.tryRead();
      const bytes = known === undefined ? await this.#inner.body.read() : known;
      if (bytes !== null) return bytes;
      this.#waiting.push(...this.#filtered(this.#inner.reader.end()));
    }
    this.#isInnerOver = true;
    if (this.#waiting.length > 0) return WAITING;
    if (this.#fault !== null || this.#failure !== null || !this.#goesOn) return null;
    await this.#goOn();
    return this.#failure === null ? WAITING : null;
  }

  get failure(): TransportFailure | null {
    return this.#failure ?? this.#inner.body.failure;
  }

  eventSeen(): void {
    this.#inner.body.eventSeen();
  }

  lingers(isEndInSight: boolean): void {
    this.#inner.body.lingers(isEndInSight);
  }

  cancel(): void {
    this.#inner.body.cancel();
  }

  release(): void {
    if (this.#isAsking) return;
    this.#ended();
    this.#inner.body.release();
  }

  /** Says that the round asks for searches alone, which the gateway runs. */
  get #goesOn(): boolean {
    if (this.#fault !== null || this.#failure !== null || this.#isCutShort) return false;
    const { progress } = this.#inner.reader;
    return (
      progress.isFinished &&
      progress.fault === null &&
      this.#said.hasSearches &&
      !this.#said.hasOthers &&
      !this.#rounds.isOver
    );
  }

  #taken(): readonly ChatChunk[] {
    const chunks = this.#waiting;
    this.#waiting = [];
    return chunks;
  }

  #filtered(chunks: readonly ChatChunk[]): ChatChunk[] {
    return chunks.map((chunk) => this.#said.read(chunk, this.#rounds));
  }

  /** One step: a search is told of, then run, and after the last one the model is asked again. */
  async #goOn(): Promise<void> {
    if (this.#open === null) {
      this.#open = [...this.#rounds.begin(this.#said.calls)];
      this.#hasSearched = true;
      this.#tell(this.#open[0] as SearchStep);
      return;
    }
    const [step] = this.#open;
    if (step === undefined) return this.#ask();
    this.#running ??= this.#rounds.run(step);
    const { value: told } = await this.#running.next();
    if (told === undefined) throw new Error("a step ended without an outcome");
    this.#tell(told);
    if (told.outcome === null) return;
    // Lets the step clean up behind its outcome.
    await this.#running.return(undefined);
    this.#running = null;
    this.#steps.push(told);
    this.#open.shift();
    const [following] = this.#open;
    if (following !== undefined) this.#tell(following);
  }

  #tell(step: SearchStep): void {
    this.#waiting.push(stepChunk(step));
  }

  async #ask(): Promise<void> {
    const { usage, outputTokens, isCounted } = this.#inner.reader.progress;
    const { message, calls } = this.#said;
    this.#ended();
    this.#inner.body.release();
    this.#isAsking = true;
    this.#hasText ||= message.content !== null;
    const round = { message, calls, steps: this.#steps, usage, outputTokens, isCounted };
    const { result } = await this.#rounds.next(round);
    this.#open = null;
    this.#steps = [];
    this.#said = new RoundReader();
    if (!result.ok) return this.#endUnheard(result);
    this.#isAsking = false;
    const { model, ticket, keyId, response } = result;
    this.#ended = () => this.#health.report(model.hostKey, ticket, "answered", keyId);
    this.#inner = response.stream as OpenStream;
    this.#isInnerOver = this.#inner.isAtEnd;
    this.#waiting.push(...this.#filtered(this.#inner.head));
  }
  /** Ends the answer with what is there and a charge, where text or a paid search was sent; else it failed and costs nothing. */
  #endUnheard({ event, error, accepted }: Unanswered): void {
    if (event === "disconnected") {
      this.#begun = accepted;
      this.#failure = { kind: "client-gone", message: TEXT.clientDisconnected };
    } else if (event === "error" && !(error instanceof GatewayError)) {
      throw error;
    } else if (event === "error" && (this.#hasText || this.#rounds.hasPaid)) {
      this.#isCutShort = true;
      this.#waiting.push(cutShortChunk());
    } else this.#fault = faultOf(TEXT.noAnswerAfterSearch, "");
  }
}
