import { afterEach, describe, expect, it, vi } from "vitest";
import { FeedError, follow, list, me } from "./index.ts";
import { KEY } from "./testing/test-api.ts";

afterEach(() => vi.unstubAllGlobals());

const problemOf = (options: object) => {
  try {
    follow({ apiKey: KEY, ...options });
  } catch (error) {
    return error instanceof FeedError ? `${error.code}: ${error.message}` : error;
  }
  return undefined;
};

describe("options", () => {
  it.each([
    [{ apiKey: undefined }, "apiKey is missing"],
    [{ apiKey: "act_live_geheim" }, "apiKey is no API key"],
    [{ apiKey: `${KEY}\n${KEY}` }, "apiKey is no API key"],
    [{ baseUrl: "127.0.0.1:8080" }, "baseUrl must be an http or https URL"],
    [{ baseUrl: "https://api.example/api/v1?key=geheim" }, "baseUrl must be"],
    [{ type: "donations" }, "type must be one of donation, follow, "],
    [{ platform: "tv" }, "platform must be one of service, live_platform_1"],
    [{ since: "yesterday" }, "since must be a Date or a UTC time"],
    [{ since: "2026-03-01T12:00:00+01:00" }, "since must be a Date or a UTC time"],
    [{ since: new Date("nonsense") }, "since must be a Date or a UTC time"],
    [{ checkpoint: "overlay.cursor" }, "checkpoint must have the functions load and save"],
    [{ checkpoint: null }, "checkpoint must have the functions load and save"],
    [{ checkpoint: { load: () => null } }, "checkpoint must have the functions load and save"],
  ])("%o is refused at once, with a message without the key", (options, sentence) => {
    const problem = problemOf(options);
    expect(problem).toContain(`invalid_option: ${sentence}`);
    expect(problem).not.toMatch(/geheim|act_live_0/);
  });

  it.each([
    { apiKey: ` ${KEY}\n` },
    { baseUrl: "https://api.example/api/v1/" },
    { since: new Date() },
    { since: "2026-03-01T12:00:00.000001Z" },
  ])("%o is accepted", (options) => {
    expect(problemOf(options)).toBeUndefined();
  });

  it("are refused in a browser, with a hint to use the hub", async () => {
    vi.stubGlobal("window", {});
    vi.stubGlobal("document", {});
    expect(problemOf({})).toMatch(/^in_browser: .*activity\/feed hub.* open its overlay/);
    expect(() => list({ apiKey: KEY })).toThrow("hub");
    await expect(me({ apiKey: KEY })).rejects.toMatchObject({ code: "in_browser" });
  });

  it("are refused in a browser's worker, which has no document", () => {
    vi.stubGlobal("navigator", { userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0)" });
    expect(problemOf({})).toMatch(/^in_browser: /);
  });

  it.each(["Node.js/24", "Deno/2.9.6", "Bun/1.4.5", "Cloudflare-Workers", undefined])(
    "are accepted in a runtime that calls itself %s",
    (userAgent) => {
      vi.stubGlobal("navigator", { userAgent });
      expect(problemOf({})).toBeUndefined();
    },
  );
});
