import { describe, expect, it } from "vitest";
import { readDashboard } from "./dashboard-config.ts";

const GOOD = { DASHBOARD_URL: "https://dash.example.com", DASHBOARD_PORT: "4180" };

function problemsOf(env: Record<string, string>): string[] {
  const problems: string[] = [];
  readDashboard(env, (text) => problems.push(text));
  return problems;
}

describe("the settings of the dashboard", () => {
  it("are absent without DASHBOARD_URL", () => {
    expect(problemsOf({})).toEqual([]);
    expect(readDashboard({}, () => undefined)).toBeUndefined();
  });

  it("accept an address for links, with or without a port for browsers", () => {
    expect(problemsOf(GOOD)).toEqual([]);
    expect(problemsOf({ DASHBOARD_URL: GOOD.DASHBOARD_URL })).toEqual([]);
    const api = { DASHBOARD_API_URL: "https://api.example.com/api/v1" };
    expect(problemsOf({ ...GOOD, ...api })).toEqual([]);
    const embedded = { ...GOOD, DASHBOARD_FRAME_ANCESTORS: "https://a.example, https://b.example" };
    expect(readDashboard(embedded, () => undefined)).toMatchObject({
      origin: "https://dash.example.com",
      port: 4180,
      host: "127.0.0.1",
      frameAncestors: ["https://a.example", "https://b.example"],
      isEmbedded: true,
    });
  });

  it.each(["http://localhost:4180", "http://127.0.0.1:4180", "http://[::1]:4180"])(
    "accept %s, on this machine, without TLS",
    (url) => {
      expect(problemsOf({ ...GOOD, DASHBOARD_URL: url })).toEqual([]);
    },
  );

  it.each([
    ["DASHBOARD_URL", { DASHBOARD_PORT: "4180" }],
    ...[
      "http://dash.example.com",
      "http://localhost.example.com",
      "https://dash.example.com/",
      "https://dash.example.com/path",
      "https://Dash.example.com",
      "https://dash.example.com:443",
      "https://user@dash.example.com",
      "dash.example.com",
      "null",
      "*",
    ].map((url) => ["DASHBOARD_URL", { ...GOOD, DASHBOARD_URL: url }] as const),
    ...["*", "https://*.example.com", "'self'", "https://a.example b", "https://a.example;x"].map(
      (origins) =>
        ["DASHBOARD_FRAME_ANCESTORS", { ...GOOD, DASHBOARD_FRAME_ANCESTORS: origins }] as const,
    ),
    ...["api.example.com/api/v1", "https://api.example.com", 'https://a.example/"; rm /api/v1'].map(
      (url) => ["DASHBOARD_API_URL", { ...GOOD, DASHBOARD_API_URL: url }] as const,
    ),
    ["DASHBOARD_PORT", { ...GOOD, DASHBOARD_PORT: "80a" }],
    ["DASHBOARD_PORT", { ...GOOD, DASHBOARD_PORT: "65536" }],
    ["TRUSTED_PROXIES", { ...GOOD, TRUSTED_PROXIES: "proxy" }],
  ] as const)("report a wrong %s: %o", (name, env) => {
    const [problem, ...others] = problemsOf(env as Record<string, string>);
    expect(problem).toMatch(new RegExp(`^${name} must be `));
    expect(others).toEqual([]);
  });
});
