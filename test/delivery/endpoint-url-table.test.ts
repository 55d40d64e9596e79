import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseEndpointUrl } from "../../server/src/endpoint/endpoint-url.ts";

type TargetRow = {
  readonly url: string;
  readonly attempt: "safe" | "unsafe_target" | "dns_failed";
  readonly configuration: "accepted" | "refused";
  readonly why: string;
};

const vectors = new URL("../vectors/targets.json", import.meta.url);
const rows = JSON.parse(readFileSync(vectors, "utf8")) as TargetRow[]; // ours, kept beside

/** The rule of `attempt-targets.test.ts`, as far as it can be known when an endpoint is configured. */
describe("ADR 0027: an unsafe target is refused at configuration where it can be known", () => {
  it.each(rows)("$why: $configuration ($url)", ({ url, configuration }) => {
    const parse = () => parseEndpointUrl(url, new Set());
    if (configuration === "accepted") expect(parse).not.toThrow();
    else expect(parse).toThrow("url accepts");
  });
});
