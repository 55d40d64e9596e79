import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { sign, signedHeaders } from "../../src/index.ts";
import { SECRET } from "../signed-delivery.ts";

const attempt = { secret: SECRET, eventId: "wev_1", body: "{}", timestampSeconds: 1_767_225_600 };

describe("sign", () => {
  it("is HMAC-SHA256 keyed with the whole secret text, whsec_ included", async () => {
    const hex = createHmac("sha256", SECRET).update("1767225600.wev_1.{}").digest("hex");
    expect(await sign(attempt)).toBe(`v1=${hex}`);
  });

  it("returns every header of the contract", async () => {
    expect(await signedHeaders(attempt, 3)).toEqual({
      "Content-Type": "application/json",
      "Service-Event-Id": "wev_1",
      "Service-Timestamp": "1767225600",
      "Service-Attempt": "3",
      "Service-Signature": await sign(attempt),
    });
  });

  it.each([1.5, -1, Number.NaN, 1e21])("refuses %d for a time", async (timestampSeconds) => {
    await expect(sign({ ...attempt, timestampSeconds })).rejects.toThrow(RangeError);
  });

  it("refuses a weak secret", async () => {
    await expect(sign({ ...attempt, secret: "whsec_" })).rejects.toThrow("whsec_");
  });
});
