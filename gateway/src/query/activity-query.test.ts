import { ActivityType, Order, Platform } from "@activity/proto";
import { describe, expect, it } from "vitest";
import { asJson, parametersOf } from "../../../test/contract/openapi-document.ts";
import { parseActivityQuery } from "./activity-query.ts";
import { InvalidParameterError } from "./invalid-parameter-error.ts";

describe("§4.2 the parameters of /activity", () => {
  it("leave everything to the core when absent", () => {
    const request = parseActivityQuery("");
    expect(request).toMatchObject({ accountId: "", order: 0, type: 0, platform: 0 });
    expect([request.limit, request.since, request.until, request.cursor]).toEqual(
      Array(4).fill(undefined),
    );
  });

  /** `timestamp.test.ts` does the same for `since` and `until`. */
  it("accept exactly the values that openapi.yaml describes", () => {
    const described = parametersOf("/activity");
    const words = described.flatMap(({ name, schema }) => {
      const { enum: values } = asJson(schema);
      return values === undefined ? [] : [[name, values as string[]] as const];
    });
    expect(words.map(([name]) => name)).toEqual(["order", "type", "platform"]);
    for (const [name, values] of words) {
      for (const value of values) parseActivityQuery(`${name}=${value}`);
      const refusal = `${name} accepts one of ${values.join(", ")}.`;
      expect(() => parseActivityQuery(`${name}=x`)).toThrow(refusal);
    }
    const limit = { type: "integer", minimum: 1, maximum: 100, default: 50 };
    const cursor = { type: "string", maxLength: 2048 };
    expect(described).toContainEqual(expect.objectContaining({ name: "limit", schema: limit }));
    expect(described).toContainEqual(
      expect.objectContaining({ name: "cursor", schema: cursor, allowEmptyValue: true }),
    );
    expect(parseActivityQuery("limit=1&order=desc")).toMatchObject({ limit: 1, order: Order.DESC });
  });

  it("arrive as one request", () => {
    const query =
      "limit=100&order=asc&type=giftsub&platform=csv&since=2026-03-01T12:00:00Z&until=2026-03-01T12%3A00%3A00.25Z&cursor=abc";
    expect(parseActivityQuery(query)).toMatchObject({
      limit: 100,
      order: Order.ASC,
      type: ActivityType.GIFTSUB,
      platform: Platform.CSV,
      since: { seconds: 1_772_366_400n, nanos: 0 },
      until: { seconds: 1_772_366_400n, nanos: 250_000_000 },
      cursor: "abc",
    });
  });

  it.each(["0", "101", "1000", "-1", "+1", "01", "1.0", "1e1", "0x1", " 1", "1 ", "１", "x"])(
    "limit refuses %j and says what it accepts",
    (value) => {
      expect(() => parseActivityQuery(`limit=${encodeURIComponent(value)}`)).toThrow(
        new InvalidParameterError("limit accepts a whole number from 1 to 100."),
      );
    },
  );

  it.each([
    "order=ASC",
    "order=ascending",
    "type=Donation",
    "type=constructor",
    "platform=__proto__",
    "platform=live_platform_5",
    "since=yesterday",
    "until=2026-03-01T12:00:00+00:00",
  ])("%s is refused, and the message does not repeat the value", (query) => {
    const [name = "", value = ""] = query.split("=");
    expect(() => parseActivityQuery(query)).toThrow(InvalidParameterError);
    expect(() => parseActivityQuery(query)).toThrow(`${name} accepts`);
    expect(() => parseActivityQuery(query)).not.toThrow(value);
  });

  it("cursor accepts 0 to 2048 characters", () => {
    expect(parseActivityQuery("cursor=").cursor).toBe("");
    expect(parseActivityQuery(`cursor=${"c".repeat(2048)}`).cursor).toHaveLength(2048);
    expect(() => parseActivityQuery(`cursor=${"c".repeat(2049)}`)).toThrow(InvalidParameterError);
    const hearts = (count: number) => `cursor=${encodeURIComponent("💜".repeat(count))}`;
    expect([...(parseActivityQuery(hearts(2048)).cursor ?? "")]).toHaveLength(2048);
    expect(() => parseActivityQuery(hearts(2049))).toThrow(InvalidParameterError);
  });
});
