import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mayBePlain, readCoreUrl, readSecret, refuseUnsafeTargets } from "./environment.ts";

const UNSAFE = { WEBHOOK_ALLOWED_TARGETS: "127.0.0.1:1", WEBHOOK_EXTRA_CA: "/ca.pem" };
const DEVELOPMENT = { ALLOW_UNSAFE_TARGETS: "development" };
const PLAIN = { CORE_PLAINTEXT: "trusted-network" };

/** Returns of each problem the variable it begins with. */
function problemsOf(check: (problem: (text: string) => void) => unknown): string[] {
  const problems: string[] = [];
  check((text) => problems.push(text.split(" ")[0] ?? ""));
  return problems;
}

describe("targets that are unsafe", () => {
  it.each([
    [{}, []],
    [UNSAFE, Object.keys(UNSAFE)],
    [{ ...UNSAFE, ...DEVELOPMENT }, []],
    [{ ...UNSAFE, ALLOW_UNSAFE_TARGETS: "yes" }, ["ALLOW_UNSAFE_TARGETS", ...Object.keys(UNSAFE)]],
  ])("are allowed for development only: %o", (env, expected) => {
    expect(problemsOf((problem) => refuseUnsafeTargets(env, problem))).toEqual(expected);
  });
});

describe("a core without TLS", () => {
  it.each(["localhost", "127.0.0.1", "127.8.8.8", "::1", "[::1]"])("may be at %s", (host) => {
    expect(mayBePlain({}, host, () => undefined)).toBe(true);
  });

  it.each(["0.0.0.0", "::", "10.0.0.1", "core", "127.0.0.1.example", "localhost.example"])(
    "may be at %s only on a network that is called trusted",
    (host) => {
      expect(mayBePlain({}, host, () => undefined)).toBe(false);
      expect(mayBePlain(PLAIN, host, () => undefined)).toBe(true);
    },
  );

  it("takes no other word for it", () => {
    expect(problemsOf((problem) => mayBePlain({ CORE_PLAINTEXT: "yes" }, "::1", problem))).toEqual([
      "CORE_PLAINTEXT",
    ]);
  });
});

describe("a secret", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "activity-secret-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const fileWith = (content: string) => {
    const path = join(folder, "secret");
    writeFileSync(path, content);
    return path;
  };
  const read = (env: Record<string, string>) => {
    const problems: string[] = [];
    return { value: readSecret(env, "KEY", (text) => problems.push(text)), problems };
  };

  it("is the variable, or nothing", () => {
    expect(read({ KEY: "geheim\n" })).toEqual({ value: "geheim\n", problems: [] });
    expect(read({})).toEqual({ value: "", problems: [] });
    expect(read({ KEY: "geheim", KEY_FILE: "" })).toEqual({ value: "geheim", problems: [] });
  });

  it.each(["geheim", "geheim\n", "geheim\r\n"])(
    "is what its file holds, without the newline that ends it: %j",
    (content) => {
      expect(read({ KEY_FILE: fileWith(content) })).toEqual({ value: "geheim", problems: [] });
      expect(read({ KEY: "", KEY_FILE: fileWith(content) }).value).toBe("geheim");
    },
  );

  it("is one of the two", () => {
    const both = read({ KEY: "geheim", KEY_FILE: fileWith("geheim") });
    const problems = ["KEY and KEY_FILE are both set: unset one of them."];
    expect(both).toEqual({ value: undefined, problems });
  });

  it("is not repeated when its file cannot be used, nor is what was given for a path", () => {
    const wrong = [{ KEY_FILE: "geheim" }, { KEY_FILE: folder }, { KEY_FILE: fileWith("\n") }];
    for (const { value, problems } of wrong.map(read)) {
      expect(value).toBeUndefined();
      expect(problems).toEqual([
        "KEY_FILE must be the path of a file that this process can read, with the secret in it.",
      ]);
    }
  });
});

describe("CORE_URL", () => {
  const problems = (CORE_URL: string, env = {}) =>
    problemsOf((problem) => readCoreUrl({ CORE_URL, ...env }, "", problem));

  it.each(["http://127.1:50051", "http://[::1]:1", "https://core.example", "https://10.0.0.1:1"])(
    "takes %s",
    (url) => {
      expect(problems(url)).toEqual([]);
    },
  );

  it.each(["http://core.example", "http://10.0.0.1:50051", "http://127.0.0.1.example:1"])(
    "takes %s only on a network that is called trusted",
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
