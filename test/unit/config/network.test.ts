// Addresses that are public, private, or forbidden.

import { describe, expect, it } from "vitest";
import { addressKind, hostKind } from "../../../src/config/network.ts";

const FORBIDDEN = [
  "169.254.169.254",
  "169.254.0.1",
  "::ffff:169.254.169.254",
  "::ffff:a9fe:a9fe",
  "64:ff9b::a9fe:a9fe",
  "64:ff9b:1::a9fe:a9fe",
  "2002:a9fe:a9fe::1",
  "fd00:ec2::254",
  "fe80::1",
  "fe80::1%eth0",
  "100.100.100.200",
  "192.0.0.192",
  "168.63.129.16",
  "224.0.0.1",
  "255.255.255.255",
  "ff02::1",
  "0.0.0.0",
  "0.1.2.3",
  "::",
  "::ffff:0.0.0.0",
  "::ffff:0:0",
  "::a9fe:a9fe",
  "::ffff:0:a9fe:a9fe",
  "64:ff9b::",
  "2002::1",
  "192.0.2.1",
  "198.51.100.1",
  "203.0.113.1",
  "2001:db8::1",
  "100::1",
  "nonsense",
];
const PRIVATE = [
  "127.0.0.1",
  "127.8.9.10",
  "::1",
  "::7f00:1",
  "10.1.2.3",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "100.64.0.1",
  "fd12:3456::1",
  "fec0::1",
  "::ffff:10.0.0.1",
  "64:ff9b::7f00:1",
  "2002:7f00:1::",
];
const PUBLIC = [
  "1.1.1.1",
  "172.32.0.1",
  "100.128.0.1",
  "8.8.8.8",
  "2606:4700::1111",
  "::ffff:8.8.8.8",
  "2002:808:808::1",
];

describe("addressKind", () => {
  it.each(FORBIDDEN)("%s is never called", (address) => {
    expect(addressKind(address)).toBe("forbidden");
  });
  it.each(PRIVATE)("%s is private", (address) => {
    expect(addressKind(address)).toBe("private");
  });
  it.each(PUBLIC)("%s is public", (address) => {
    expect(addressKind(address)).toBe("public");
  });
});

describe("hostKind", () => {
  it.each([
    ["http://169.254.169.254/latest", "forbidden"],
    ["http://2852039166/", "forbidden"],
    ["http://0xa9fea9fe/", "forbidden"],
    ["http://0251.0376.0251.0376/", "forbidden"],
    ["http://[::ffff:169.254.169.254]/", "forbidden"],
    ["http://0.0.0.0:8000/v1", "forbidden"],
    ["http://0/", "forbidden"],
    ["http://0x0.0.0/", "forbidden"],
    ["http://00000000000/", "forbidden"],
    ["http://[::]:8000/v1", "forbidden"],
    ["http://[0:0:0:0:0:0:0:0]/", "forbidden"],
    ["http://[::ffff:0.0.0.0]/", "forbidden"],
    ["http://METADATA.google.internal./", "forbidden"],
    ["http://instance-data/", "forbidden"],
    ["http://localhost:8000/v1", "name"],
    ["http://ollama:11434/v1", "name"],
    ["http://127.1:8000/", "private"],
    ["https://api.openai.com/v1", "name"],
    ["https://[2606:4700::1111]/", "public"],
  ])("of %s is %s", (url, kind) => {
    expect(hostKind(new URL(url).hostname)).toBe(kind);
  });
});
