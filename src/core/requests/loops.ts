// Loops of gateways: one that is its own provider, or two that name each other. Each gateway adds its name to the header of
// RFC 8586 and recognises a request that has been there before. Names of other programs are left to them.

export const LOOP_HEADER = "cdn-loop";

/** Name of a gateway in the header, from an id that all its processes share. */
export function loopName(id: string): string {
  return `switchyard-${id}`;
}

const NAME = /\bswitchyard-[0-9a-f]{16}\b/g;

/** The gateways that the request came through. */
export function gatewaysIn(header: string | readonly string[] | undefined): readonly string[] {
  if (header === undefined) return NONE;
  return String(header).match(NAME) ?? NONE;
}

const NONE: readonly string[] = [];
