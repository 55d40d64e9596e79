import { describe, expect, it } from "vitest";
import { createFindClientAddress, parseNetworks, warnOfUntrustedProxy } from "./client-address.ts";

const direct = createFindClientAddress([]);
const proxied = createFindClientAddress(["10.0.0.0/8", "fd00::/8", "::ffff:192.168.0.0/112"]);

describe("the client's address", () => {
  it("is the socket's, with IPv4 unmapped and without a zone", () => {
    expect(direct("1.2.3.4", ["9.9.9.9"])).toBe("1.2.3.4");
    expect(direct("::ffff:1.2.3.4", [])).toBe("1.2.3.4");
    expect(direct("::ffff:102:304", [])).toBe("1.2.3.4");
    expect(direct("fe80::1%eth0", [])).toBe("fe80::1");
    expect(direct("", [])).toBe("");
  });

  it("is a forwarded address only if the peer is trusted", () => {
    expect(proxied("1.2.3.4", ["9.9.9.9"])).toBe("1.2.3.4");
    expect(proxied("10.0.0.1", ["9.9.9.9"])).toBe("9.9.9.9");
    expect(proxied("::ffff:10.0.0.1", ["9.9.9.9"])).toBe("9.9.9.9");
    expect(proxied("fd00::1", ["2001:DB8::1"])).toBe("2001:db8::1");
    expect(proxied("192.168.0.1", ["9.9.9.9"])).toBe("9.9.9.9");
    expect(proxied("10.0.0.1", [])).toBe("10.0.0.1");
  });

  it("is the right-most address that is not a trusted proxy, even if a client wrote others before it", () => {
    expect(proxied("10.0.0.1", ["6.6.6.6, 9.9.9.9, 10.0.0.2"])).toBe("9.9.9.9");
    expect(proxied("10.0.0.1", ["6.6.6.6", "9.9.9.9,10.0.0.2"])).toBe("9.9.9.9");
    expect(proxied("10.0.0.1", ["10.0.0.3,10.0.0.2"])).toBe("10.0.0.3");
    expect(proxied("10.0.0.1", ["::ffff:9.9.9.9"])).toBe("9.9.9.9");
    const google = createFindClientAddress(["35.191.0.0/16", "203.0.113.9"]);
    expect(google("35.191.0.1", ["198.51.100.1, 203.0.113.9"])).toBe("198.51.100.1");
  });

  it("may have a port and brackets", () => {
    expect(proxied("10.0.0.1", ["9.9.9.9:443"])).toBe("9.9.9.9");
    expect(proxied("10.0.0.1", ["[2001:db8::1]:443"])).toBe("2001:db8::1");
    expect(proxied("10.0.0.1", ["[2001:db8::1]"])).toBe("2001:db8::1");
  });

  it.each(["unknown", "_hidden", "9.9.9", "0x7f.1", "9.9.9.9:", "[::1", "9.9.9.9;x", "127.1"])(
    "is the last valid one before an entry that is no address: %s",
    (entry) => {
      expect(proxied("10.0.0.1", [`6.6.6.6, ${entry}, 10.0.0.2`])).toBe("10.0.0.2");
      expect(proxied("10.0.0.1", [entry])).toBe("10.0.0.1");
    },
  );

  it("accepts only CIDRs and single addresses as trusted proxies", () => {
    for (const text of ["10.0.0.0/8", "10.0.0.1", "::1", "fd00::/8", "0.0.0.0/0"]) {
      expect(() => parseNetworks([text])).not.toThrow();
    }
    for (const text of ["", "10.0.0.0/33", "10.0.0.0/", "::/129", "host", "10/8", "1.1.1.1/8/9"]) {
      expect(() => parseNetworks([text])).toThrow();
    }
  });
});

describe("an untrusted proxy on a local network", () => {
  const warnings = (trusted: readonly string[], ...requests: [string, string[]][]) => {
    let count = 0;
    const warn = () => {
      count += 1;
    };
    const find = warnOfUntrustedProxy(createFindClientAddress(trusted), trusted, warn);
    for (const [peer, forwarded] of requests) find(peer, forwarded);
    return count;
  };

  it("causes one warning", () => {
    expect(warnings([], ["10.1.2.3", ["9.9.9.9"]], ["10.1.2.3", ["9.9.9.9"]])).toBe(1);
    expect(warnings(["10.0.0.0/8"], ["::ffff:172.18.0.1", ["9.9.9.9"]])).toBe(1);
  });

  it.each(["100.64.0.1", "169.254.10.2", "fe80::1%eth0"])(
    "causes a warning at a provider's or link-local address: %s",
    (peer) => {
      expect(warnings([], [peer, ["9.9.9.9"]])).toBe(1);
    },
  );

  it("causes no warning if it is trusted, forwards nothing, or is not on a local network", () => {
    expect(warnings(["10.0.0.0/8"], ["10.1.2.3", ["9.9.9.9"]])).toBe(0);
    expect(warnings([], ["10.1.2.3", []])).toBe(0);
    expect(warnings([], ["9.9.9.9", ["8.8.8.8"]])).toBe(0);
  });
});
