// Pictures that a model asks for: chosen, made and priced as a request for images would be. Each is charged as one line of
// the answer, so a picture that failed costs nothing.

import { quoteChain } from "../../billing/estimate.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { Constraints, Decision } from "../../core/decision.ts";
import { GatewayError } from "../../core/errors.ts";
import type { HostedModel } from "../../core/model.ts";
import { type ChargedLine, costPico } from "../../core/money.ts";
import {
  type ImageAsk,
  type PartialPicture,
  PICTURE_PROMPT_BYTES_MAX,
  type Picture,
} from "../../core/search/web-search.ts";
import type { ChatChunk, ClientRequest } from "../../formats/format.ts";
import {
  type PictureWish,
  pictureFormat,
  pictureRequest,
  streamedPicture,
  wholePicture,
} from "../../formats/tools/pictures.ts";
import { hostedModelsOf } from "../../routing/hosts.ts";
import { decideNamed } from "../../routing/named.ts";
import { residencyOf } from "../../routing/needs.ts";
import { type Answered, askedTierOf, attempt } from "../attempt/attempt.ts";
import { BROKEN_STREAM } from "../attempt/health-outcome.ts";
import type { OpenStream } from "../attempt/try-model.ts";
import type { Call } from "../call.ts";
import type { Reservation } from "../reserve.ts";
import type { Services } from "../services.ts";
import { assess, type Delivered, deliveredWhole } from "../settle.ts";
import { nativePictureModels } from "./native-pictures.ts";

/** The image model for a request, and the most that one picture of it costs in pico-USD. */
export interface PicturePlan {
  readonly decision: Decision;
  readonly models: readonly HostedModel[];
  readonly rate: number;
}

const PICO_PER_NANO = 1000;

/** The model that the tool names, else the cheapest for such a picture. Null where none may be used. */
export function planPictures(
  { controls }: Pick<ClientRequest, "controls">,
  ask: ImageAsk,
  { constraints, catalog }: { readonly constraints: Constraints; readonly catalog: Catalog },
): PicturePlan | null {
  const asked = pictureRequest({ prompt: LONGEST_PROMPT, ask });
  const decideFor = (model: string): Decision =>
    decideNamed(
      {
        ...{ endpoint: "images", model, chat: asked.chat, tokenIds: 0, used: asked.media },
        ...{ constraints, residency: residencyOf(controls) },
      },
      catalog,
    );
  const decision =
    (ask.model === null ? null : orNull(() => decideFor(ask.model as string))) ?? orNull(() => decideFor("auto"));
  if (decision === null) return null;
  const models = hostedModelsOf(decision, catalog);
  return { decision, models, rate: dearestOf(models, asked) };
}

const LONGEST_PROMPT = "x".repeat(PICTURE_PROMPT_BYTES_MAX);

function orNull(decide: () => Decision): Decision | null {
  try {
    return decide();
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

/** The most that one picture costs at any of these. */
function dearestOf(models: readonly HostedModel[], { chat, media, source }: ClientRequest): number {
  const most = { chat, bodyBytes: source.bytes.length, media: media?.most, expectedOutputTokens: 0, markupPpm: 0 };
  const amounts = quoteChain({ ...most, models }).map(({ amount }) => amount);
  return Number(amounts.reduce((max, amount) => (amount > max ? amount : max), 0n)) * PICO_PER_NANO;
}

/** The most that a picture may cost where the provider makes it. */
export function nativePictureRate(ask: ImageAsk, catalog: Catalog): number {
  const models = nativePictureModels(ask, catalog);
  return models.length === 0 ? 0 : dearestOf(models, pictureRequest({ prompt: LONGEST_PROMPT, ask }));
}

/** One picture on its way: its beginnings, and the end. */
export type PictureEvent =
  | { readonly partial: PartialPicture }
  | { readonly partial: null; readonly picture: Picture | null; readonly line: ChargedLine | null };

export interface AskedPicture {
  readonly call: Call;
  readonly reservation: Reservation;
  readonly plan: PicturePlan;
  readonly ask: ImageAsk;
  readonly prompt: string;
}

export async function* makePicture(asked: AskedPicture, services: Services): AsyncGenerator<PictureEvent> {
  const { call, plan, ask, prompt } = asked;
  const wish = { prompt, ask, model: plan.decision.model, isShown: call.request.chat.isStream };
  const { signal, requestId, receivedAt, sentBytes, caller, captures, traceContext, observer } = call;
  const drawn: Call = {
    ...{ signal, requestId, receivedAt, sentBytes, caller, captures, traceContext, observer },
    ...{ format: pictureFormat, request: pictureRequest(wish), idempotencyId: null, state: null },
  };
  const reservation = { ...asked.reservation, decision: plan.decision, models: plan.models, outputCaps: NO_CAPS };
  const attempted = await attempt(drawn, reservation, services);
  const { result } = attempted;
  if (!result.ok) return yield FAILED;
  const of = { call: drawn, reservation, model: result.model, askedTier: askedTierOf(attempted) };
  const { whole, stream } = result.response;
  if (whole === null) return yield* readPicture({ stream, answered: result, of, wish }, services);
  const picture = wholePicture(whole, wish);
  yield picture === null
    ? FAILED
    : { partial: null, picture, line: lineOf(deliveredWhole({ ...of, whole }), services) };
}

const NO_CAPS: ReadonlyMap<string, number> = new Map();
const FAILED: PictureEvent = { partial: null, picture: null, line: null };

/** The price of one picture as a line of another answer. */
function lineOf(delivered: Delivered, services: Services): ChargedLine {
  const { record } = assess(delivered, services);
  return { unit: "image", count: 1, rate: costPico(record.buckets, record.price) };
}

interface OpenPicture {
  readonly stream: OpenStream;
  readonly answered: Answered;
  readonly of: Pick<Delivered, "call" | "reservation" | "model" | "askedTier">;
  readonly wish: PictureWish;
}

async function* readPicture(open: OpenPicture, services: Services): AsyncGenerator<PictureEvent> {
  const { stream, answered, of, wish } = open;
  const { reader, body } = stream;
  let picture: Picture | null = null;
  for await (const chunk of chunksOf(stream)) {
    const told = streamedPicture(chunk, wish);
    if (told.partial !== null) yield { partial: told.partial };
    picture = told.picture ?? picture;
  }
  const { usage, outputTokens, isFinished, fault } = reader.progress;
  const isWhole = isFinished && fault === null && picture !== null;
  if (isWhole) body.release();
  else body.cancel();
  services.health.report(answered.model.hostKey, answered.ticket, isWhole ? "answered" : BROKEN_STREAM, answered.keyId);
  if (isWhole) {
    const delivered: Delivered = { ...of, usage, outputTokens, isCounted: true, outcome: "complete" };
    return yield { partial: null, picture, line: lineOf(delivered, services) };
  }
  // A client that leaves pays for what the provider had begun.
  const isLeft = of.call.signal.aborted && !services.isCutting();
  const left: Delivered = { ...of, usage, outputTokens, isCounted: false, outcome: "client-gone" };
  yield { partial: null, picture: null, line: isLeft ? lineOf(left, services) : null };
}

async function* chunksOf({ reader, body, head, isAtEnd }: OpenStream): AsyncGenerator<ChatChunk> {
  yield* head;
  let isOver = isAtEnd;
  while (!isOver && !reader.progress.isDone && reader.progress.fault === null) {
    const known = body.tryRead();
    const bytes = known === undefined ? await body.read() : known;
    isOver = bytes === null;
    yield* bytes === null ? reader.end() : reader.push(bytes);
  }
}
