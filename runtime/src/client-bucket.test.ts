import { describe, expect, it } from "vitest";
import { clientBucket } from "./client-bucket.ts";

const same = (a: string, b: string) => expect(clientBucket(a)).toEqual(clientBucket(b));
const different = (a: string, b: string) => expect(clientBucket(a)).not.toEqual(clientBucket(b));

describe("the bucket of a client address", () => {
  it("is its own for each IPv4 address", () => {
    different("192.0.2.1", "192.0.2.2");
  });

  it("is that of the IPv4 address when it is written in IPv6", () => {
    same("::ffff:192.0.2.1", "192.0.2.1");
    same("::ffff:c000:201", "192.0.2.1");
    same("0:0:0:0:0:ffff:c000:0201", "192.0.2.1");
    same("::FFFF:C000:201", "192.0.2.1");
  });

  it("is one for all addresses of an IPv6 /64, however they are written", () => {
    same("2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff");
    same("2001:0db8:0000:0001::", "2001:DB8:0:1:0:0:192.0.2.1");
    same("fe80::1%eth0", "fe80::2");
    different("2001:db8:0:1::1", "2001:db8:0:2::1");
    different("::1", "0:0:0:1::1");
    different("::192.0.2.1", "192.0.2.1");
    same("fe80::1%en-0.1", "fe80::2");
  });

  it("is the same for all text that is no address", () => {
    same("", "unknown");
    same("not an address", "300.1.1.1");
    different("", "0.0.0.0");
  });
});
