import * as proto from "@activity/proto";
import { expect, it } from "vitest";

/** No log may show these fields: secrets, receivers' URLs (which may contain a secret) and donors' texts. */
const CONFIDENTIAL = new Set(["secret", "url", "payload"]);

it("every field of the protos that holds a secret, a URL or a payload is marked debug_redact", () => {
  const fields = Object.values(proto)
    .filter((exported) => typeof exported === "object" && "kind" in exported)
    .flatMap((exported) => (exported.kind === "message" ? exported.fields : []))
    .filter(({ name }) => CONFIDENTIAL.has(name));
  expect(fields.length).toBeGreaterThan(0);
  const shown = fields.filter(({ proto: field }) => !field.options?.debugRedact);
  expect(shown.map(({ parent, name }) => `${parent.typeName}.${name}`)).toEqual([]);
});
