// One attempt outside of a live call: an operator's probe, or a second answer. Health hears nothing of it.

import { mayLeaveOut } from "../../formats/bridge.ts";
import type { Services } from "../services.ts";
import { type Sending, type TriedModel, tryModel } from "./try-model.ts";
import { judge } from "./verdict.ts";

/** Once more without a field that is refused, as any other request would be. */
export async function unwatchedTry(
  sending: Omit<Sending, "refusedFields">,
  services: Pick<Services, "registry" | "now">,
): Promise<TriedModel> {
  const { call, model } = sending;
  const first = await tryModel({ ...sending, refusedFields: [] }, services);
  if (first.ok || judge(first.failure).again !== "without-refused-field") return first;
  const refused = first.failure.fault?.param ?? "";
  const provider = services.registry.connection(model.provider).formatFor(model, call.format.name);
  if (!mayLeaveOut(refused, call, { provider, model })) return first;
  return tryModel({ ...sending, refusedFields: [refused] }, services);
}
