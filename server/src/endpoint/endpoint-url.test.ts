import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DomainError } from "../common/errors.ts";
import { parseEndpointUrl } from "./endpoint-url.ts";

type TargetRow = {
  readonly url: string;
  readonly configuration: "accepted" | "refused";
  readonly why: string;
};

/** `test/delivery/attempt-targets.test.ts` tests attempts at the same targets. */
const TARGETS: readonly TargetRow[] = JSON.parse(
  readFileSync(new URL("../../../test/vectors/targets.json", import.meta.url), "utf8"),
);
const LONGEST = `https://example.com/${"a".repeat(2048 - "https://example.com/".length)}`;
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
    ["https://notlocalhost.com./", "https://notlocalhost.com./"],
    [LONGEST, LONGEST],
  ])("may be %s", (text, stored) => {
    expect(parse(text)).toBe(stored);
  });

  it.each([
    ["http://example.com/", "https"],
    ["ftp://example.com/", "https"],
    ["example.com/hook", "a scheme and a host"],
    ["https://example.com:8443/", "port"],
    ["https://user@example.com/", "user info"],
    ["https://user:pass@example.com/", "user info"],
    ["https://:pass@example.com/", "user info"],
    ["https://example.com/#part", "fragment"],
    ["https://example.com/#", "fragment"],
    [`${LONGEST}a`, "2048"],
    // The URL parser drops the line break, so the parsed URL is shorter.
    [`${LONGEST}\n`, "2048"],
    [`https://example.com/${"ä".repeat(1000)}`, "2048"],
    ["https://intranet/", "host name"],
    ["https://-a.example.com/", "host name"],
    ["https://a.example-/", "host name"],
    ["https://host.localdomain/", "host name"],
    ["https://host.localdomain4/", "host name"],
    ["https://a.b.home.arpa/", "host name"],
  ])("may not be %s", (text, reason) => {
    expect(() => parse(text)).toThrow(DomainError);
    expect(() => parse(text)).toThrow(reason);
  });

  it.each(TARGETS)("ADR 0027: $why: $configuration ($url)", ({ url, configuration }) => {
    if (configuration === "accepted") expect(() => parse(url)).not.toThrow();
    else expect(() => parse(url)).toThrow("url must have");
  });

  it("is refused with the special block of its address", () => {
    expect(() => parse("https://127.0.0.1/")).toThrow("special block");
    expect(() => parse("https://[::ffff:10.0.0.1]/")).toThrow("special block");
  });

  it("may be an allowed target of this machine in development only", () => {
    const allowed = new Set(["127.0.0.1:8443"]);
    expect(parseEndpointUrl("https://127.0.0.1:8443/x", allowed)).toBe("https://127.0.0.1:8443/x");
    expect(() => parseEndpointUrl("https://127.0.0.1:8444/x", allowed)).toThrow("port");
    expect(() => parseEndpointUrl("http://127.0.0.1:8443/x", allowed)).toThrow("https");
  });
});
