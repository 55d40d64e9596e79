import { ActivityType, Order, Platform } from "@activity/proto";
import { describe, expect, it } from "vitest";
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

  it("order is asc or desc", () => {
    expect(parseActivityQuery("order=desc").order).toBe(Order.DESC);
    expect(() => parseActivityQuery("order=up")).toThrow("order accepts one of asc, desc.");
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
