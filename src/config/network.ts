// Kinds of network addresses: public, private, or forbidden. Forbidden ones are never called, such as the metadata
// service that gives a cloud machine its credentials. Also the address at which people on this machine open the gateway.

import { BlockList, isIP } from "node:net";

type AddressKind = "public" | "private" | "forbidden";

/** Kept apart by family: a list with both would take an IPv4 address for its IPv6 form. */
interface Ranges {
  readonly v4: BlockList;
  readonly v6: BlockList;
}

/**
 * Link-local, multicast, unspecified and reserved ranges, and the metadata services that stand outside of them. To
 * connect to 0.0.0.0 or [::] reaches this machine, past a check for loopback.
 */
const FORBIDDEN = ranges(
  [
    ...["0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4"],
    ...["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"],
    ...["100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32"],
  ],
  ["::/128", "100::/64", "2001:db8::/32", "fe80::/10", "ff00::/8", "fd00:ec2::254/128", "fd20:ce::254/128"],
);
/** Loopback, private and carrier-grade ranges, and those reserved for tests of networks. */
const PRIVATE = ranges(
  ["10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15"],
  ["::1/128", "fc00::/7", "fec0::/10"],
);
/** Names under which clouds serve metadata. */
const FORBIDDEN_NAMES: ReadonlySet<string> = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
]);

/** The kind of an address in digits. */
export function addressKind(address: string): AddressKind {
  const family = isIP(address);
  if (family === 0) return "forbidden";
  const embedded = family === 6 ? embeddedV4(address) : address;
  const isIn = ({ v4, v6 }: Ranges): boolean =>
    embedded === null ? v6.check(address, "ipv6") : v4.check(embedded, "ipv4");
  if (isIn(FORBIDDEN)) return "forbidden";
  return isIn(PRIVATE) ? "private" : "public";
}

/** The kind of a host as `URL.hostname` gives it. A name is judged when it is looked up, except the forbidden ones. */
export function hostKind(hostname: string): AddressKind | "name" {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return addressKind(host);
  return FORBIDDEN_NAMES.has(host.toLowerCase().replace(/\.$/, "")) ? "forbidden" : "name";
}

/** The address at which a browser on this machine opens a server: wildcard hosts are shown as this machine. */
export function openableUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${shown.includes(":") ? `[${shown}]` : shown}:${port}`;
}

/** The first six groups of IPv6 addresses that end in an IPv4 one: compatible, mapped, translated (SIIT, NAT64). */
const V4_HEADS: ReadonlySet<string> = new Set(["0:0:0:0:0:0", "0:0:0:0:0:ffff", "0:0:0:0:ffff:0", "64:ff9b:0:0:0:0"]);

/** The IPv4 address inside an IPv6 one, also where it is tunnelled (6to4). Otherwise it would pass as public. */
function embeddedV4(address: string): string | null {
  const groups = groupsOf(address);
  // These two are addresses of their own.
  if (groups.slice(0, 7).every((group) => group === "0") && /^[01]$/.test(groups[7] as string)) return null;
  const isLast = V4_HEADS.has(groups.slice(0, 6).join(":")) || groups.slice(0, 3).join(":") === "64:ff9b:1";
  if (isLast) return dotted(groups[6] as string, groups[7] as string);
  return groups[0] === "2002" ? dotted(groups[1] as string, groups[2] as string) : null;
}

/** The eight groups of an IPv6 address, written out. */
function groupsOf(address: string): readonly string[] {
  const host = new URL(`http://[${address.replace(/%.*$/, "")}]`).hostname.slice(1, -1);
  const [before = "", after] = host.split("::");
  const left = before === "" ? [] : before.split(":");
  if (after === undefined) return left;
  const right = after === "" ? [] : after.split(":");
  return [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
}

function dotted(high: string, low: string): string {
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join(".");
}

function ranges(v4: readonly string[], v6: readonly string[]): Ranges {
  return { v4: blockList(v4, "ipv4"), v6: blockList(v6, "ipv6") };
}

function blockList(subnets: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = "", bits] = subnet.split("/");
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}
