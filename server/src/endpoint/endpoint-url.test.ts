import { describe, expect, it } from "vitest";
import { DomainError } from "../common/errors.ts";
import { parseEndpointUrl } from "./endpoint-url.ts";

const NONE: ReadonlySet<string> = new Set();
const parse = (url: string) => parseEndpointUrl(url, NONE);

describe("an endpoint's URL", () => {
  it.each([
    ["https://example.com", "https://example.com/"],
    ["https://example.com:443/hook?a=b", "https://example.com/hook?a=b"],
    ["https://EXAMPLE.com/ä", "https://example.com/%C3%A4"],
    ["https://bücher.example/x", "https://xn--bcher-kva.example/x"],
    ["https://8.8.8.8/x", "https://8.8.8.8/x"],
    ["https://[2606:4700::1111]/x", "https://[2606:4700::1111]/x"],
  ])("may be %s", (text, stored) => {
    expect(parse(text)).toBe(stored);
  });

  it.each([
    ["http://example.com/", "https"],
    ["ftp://example.com/", "https"],
    ["example.com/hook", "absolute URL"],
    ["https://example.com:8443/", "port"],
    ["https://user@example.com/", "user info"],
    ["https://user:pass@example.com/", "user info"],
    ["https://example.com/#part", "fragment"],
    ["https://example.com/#", "fragment"],
    [`https://example.com/${"a".repeat(2048)}`, "2048"],
    [`https://example.com/${"ä".repeat(1000)}`, "2048"],
    ["https://localhost/", "host name"],
    ["https://intranet/", "host name"],
    ["https://printer.local/", "host name"],
    ["https://LOCALHOST./", "host name"],
    ["https://metadata.google.internal/", "host name"],
  ])("may not be %s", (text, reason) => {
    expect(() => parse(text)).toThrow(DomainError);
    expect(() => parse(text)).toThrow(reason);
  });

  it.each([
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:10.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[2001::1]",
    "[2001:db8::1]",
    "[fc00::1]",
    "[fd12::1]",
    "[fe80::1]",
    "[ff02::1]",
    "[3fff::1]",
  ])("may not be at the special address %s", (host) => {
    expect(() => parse(`https://${host}/`)).toThrow("special block");
  });

  it("may be a named target of this machine in development alone", () => {
    const allowed = new Set(["127.0.0.1:8443"]);
    expect(parseEndpointUrl("https://127.0.0.1:8443/x", allowed)).toBe("https://127.0.0.1:8443/x");
    expect(() => parseEndpointUrl("https://127.0.0.1:8444/x", allowed)).toThrow("port");
    expect(() => parseEndpointUrl("http://127.0.0.1:8443/x", allowed)).toThrow("https");
  });
});
