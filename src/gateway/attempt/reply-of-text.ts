// A provider's answer that is here already: that of a host which ran a line of a batch.

import type { Reply } from "../../providers/transport.ts";

export function replyOf(text: string): Reply {
  let rest: Buffer | null = Buffer.from(text);
  const take = (): Buffer | null => {
    const taken = rest;
    rest = null;
    return taken;
  };
  const nothing = (): void => undefined;
  const ends = { eventSeen: nothing, lingers: nothing, cancel: nothing, release: nothing };
  return {
    ok: true,
    status: 200,
    headers: {},
    body: { tryRead: take, read: async () => take(), failure: null, ...ends },
  };
}
