import { describe, expect, it } from "vitest";
import { parseRedisUrl, RedisUrlError } from "./redis-url.ts";

describe("REDIS_URL", () => {
  it.each(["redis://cache", "rediss://:pass@cache:6380/3", "redis://[::1]:6379", "REDISS://cache"])(
    "names one server: %s",
    (url) => {
      expect(parseRedisUrl(url)).toMatchObject({ kind: "server", url: url.toLowerCase() });
    },
  );

  it("names a cluster by any of its nodes", () => {
    expect(
      parseRedisUrl("redis-cluster://a:7000?node=b:7001&node=[::1]:7002&node=c"),
    ).toMatchObject({
      kind: "cluster",
      nodes: [
        { host: "a", port: 7000 },
        { host: "b", port: 7001 },
        { host: "::1", port: 7002 },
        { host: "c", port: 6379 },
      ],
      username: undefined,
      password: undefined,
      tls: false,
    });
  });

  it("names a cluster over TLS, with a percent-encoded user and password", () => {
    expect(parseRedisUrl("rediss-cluster://limiter:p%40ss%3Aword@a/0")).toMatchObject({
      kind: "cluster",
      nodes: [{ host: "a", port: 6379 }],
      username: "limiter",
      password: "p@ss:word",
      tls: true,
    });
  });

  it.each([
    ["cache:6379", "begins with redis://"],
    ["http://cache", "begins with redis://"],
    ["rediss:6379", "begins with redis://"],
    ["redis://:ge/heim@a", "Percent-encode /"],
    ["redis://u:12#heim@a", "Percent-encode /"],
    ["redis://u:12/heim@a", "Percent-encode /"],
    ["redis-cluster://u:12?heim@a", "Percent-encode /"],
    ["rediss://a?tls=", "no parameters"],
    ["redis://a/b", "only the number of a database"],
    ["redis://:ge%heim@a", "percent-encoded"],
    ["redis-cluster://", "host of a node"],
    ["redis-cluster://a:7000,b:7001", "node=host:port"],
    ["redis-cluster://a/1", "database 0"],
    ["redis-cluster://a?nodes=b", "the parameter node"],
    ["redis-cluster://a?node=geheim@b:7000", "host:port"],
    ["redis-cluster://a?node=b:7000/1", "host:port"],
    ["redis-cluster://a?node=", "host:port"],
    ["redis-cluster://:ge%heim@a", "percent-encoded"],
  ])("is refused when it is %s", (url, message) => {
    const parse = () => parseRedisUrl(url);
    expect(parse).toThrow(RedisUrlError);
    expect(parse).toThrow(message);
    expect(parse).not.toThrow("heim");
  });
});
