import { describe, expect, it } from "vitest";
import { problemsOf } from "../../test/harness/problems.ts";
import { mayBePlain, readCoreUrl } from "./core-address.ts";

const PLAIN = { ALLOW_PLAINTEXT: "trusted-network" };

describe("a core without TLS", () => {
  it.each(["localhost", "127.0.0.1", "127.8.8.8", "::1", "[::1]"])("may be at %s", (host) => {
    expect(mayBePlain({}, host, () => undefined)).toBe(true);
  });

  it.each(["0.0.0.0", "::", "10.0.0.1", "core", "127.0.0.1.example", "localhost.example"])(
    "may be at %s only with ALLOW_PLAINTEXT",
    (host) => {
      expect(mayBePlain({}, host, () => undefined)).toBe(false);
      expect(mayBePlain(PLAIN, host, () => undefined)).toBe(true);
    },
  );

  it("refuses any other value of ALLOW_PLAINTEXT", () => {
    const env = { ALLOW_PLAINTEXT: "yes" };
    const { variables } = problemsOf((problem) => mayBePlain(env, "::1", problem));
    expect(variables).toEqual(["ALLOW_PLAINTEXT"]);
  });
});

describe("CORE_URL", () => {
  const problems = (CORE_URL: string, env = {}) =>
    problemsOf((problem) => readCoreUrl({ CORE_URL, ...env }, "", problem)).variables;

  it.each(["http://127.1:50051", "http://[::1]:1", "https://core.example", "https://10.0.0.1:1"])(
    "takes %s",
    (url) => {
      expect(problems(url)).toEqual([]);
    },
  );

  it("is returned in its standard form", () => {
    const read = (CORE_URL: string) => readCoreUrl({ CORE_URL }, "", expect.unreachable);
    expect(read(" HTTPS://Core.example:443/")).toBe("https://core.example");
  });

  it.each(["http://core.example", "http://10.0.0.1:50051", "http://127.0.0.1.example:1"])(
    "may be %s only with ALLOW_PLAINTEXT",
    (url) => {
      expect(problems(url)).toEqual(["CORE_URL"]);
      expect(problems(url, PLAIN)).toEqual([]);
    },
  );

  it.each(["", "core", "mysql://core", "http://user@core", "https://core/path", "https://core?x"])(
    "refuses %s",
    (url) => {
      expect(problems(url)).toEqual(["CORE_URL"]);
    },
  );
});
