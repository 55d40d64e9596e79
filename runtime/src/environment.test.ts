import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useFolder } from "../../test/harness/use-started.ts";
import {
  ConfigError,
  type Problem,
  readPem,
  readPort,
  readSecret,
  readSettings,
  readWholeNumber,
  refuseUnsafeTargets,
} from "./environment.ts";

const UNSAFE = { WEBHOOK_ALLOWED_TARGETS: "127.0.0.1:1", WEBHOOK_EXTRA_CA: "/ca.pem" };
const DEVELOPMENT = { ALLOW_UNSAFE_TARGETS: "development" };

/** Returns the first word of each problem, which is its variable. */
function problemsOf(check: (problem: Problem) => unknown): string[] {
  const problems: string[] = [];
  check((text) => problems.push(text.split(" ")[0] ?? ""));
  return problems;
}

it.each([
  [{}, []],
  [UNSAFE, Object.keys(UNSAFE)],
  [{ ...UNSAFE, ...DEVELOPMENT }, []],
  [{ ...UNSAFE, ALLOW_UNSAFE_TARGETS: "yes" }, ["ALLOW_UNSAFE_TARGETS", ...Object.keys(UNSAFE)]],
])("unsafe targets are allowed for development only: %o", (env, expected) => {
  expect(problemsOf((problem) => refuseUnsafeTargets(env, problem))).toEqual(expected);
});

describe("a PEM file", () => {
  const folder = useFolder("pem");

  it("that is empty or cannot be read is reported, without its path", () => {
    const empty = join(folder, "geheim");
    writeFileSync(empty, "");
    for (const PEM of [empty, folder, "geheim"]) {
      const problems: string[] = [];
      expect(readPem({ PEM }, "PEM", (text) => problems.push(text))).toBeUndefined();
      expect(problems).toEqual(["PEM must be the path of a PEM file that this process can read."]);
    }
  });
});

describe("a secret", () => {
  const folder = useFolder("secret");
  const fileWith = (content: string) => {
    const path = join(folder, "secret");
    writeFileSync(path, content);
    return path;
  };
  const read = (env: Record<string, string>) => {
    const problems: string[] = [];
    return { value: readSecret(env, "KEY", (text) => problems.push(text)), problems };
  };

  it("is the variable's value, or empty", () => {
    expect(read({ KEY: "geheim\n" })).toEqual({ value: "geheim\n", problems: [] });
    expect(read({})).toEqual({ value: "", problems: [] });
    expect(read({ KEY: "geheim", KEY_FILE: "" })).toEqual({ value: "geheim", problems: [] });
  });

  it.each(["geheim", "geheim\n", "geheim\r\n"])(
    "is its file's content without the final newline: %j",
    (content) => {
      expect(read({ KEY_FILE: fileWith(content) })).toEqual({ value: "geheim", problems: [] });
      expect(read({ KEY: "", KEY_FILE: fileWith(content) }).value).toBe("geheim");
    },
  );

  it("may not be in both the variable and a file", () => {
    const both = read({ KEY: "geheim", KEY_FILE: fileWith("geheim") });
    const problems = ["KEY and KEY_FILE are both set: unset one of them."];
    expect(both).toEqual({ value: undefined, problems });
  });

  it("is not repeated by a problem with its file, nor is the path", () => {
    const wrong = [{ KEY_FILE: "geheim" }, { KEY_FILE: folder }, { KEY_FILE: fileWith("\n") }];
    for (const { value, problems } of wrong.map(read)) {
      expect(value).toBeUndefined();
      expect(problems).toEqual([
        "KEY_FILE must be the path of a file that this process can read, with the secret in it.",
      ]);
    }
  });
});

it("settings throw one error with each problem once, or are frozen", () => {
  const read = (problem: Problem, ...problems: string[]) => {
    for (const text of problems) problem(text);
    return { port: 1 };
  };
  expect(() =>
    readSettings((problem) => read(problem, "A is wrong.", "B.", "A is wrong.")),
  ).toThrow(new ConfigError("A is wrong.\nB."));
  expect(readSettings(read)).toEqual({ port: 1 });
  expect(Object.isFrozen(readSettings(read))).toBe(true);
});

describe("a whole number", () => {
  const read = (NUMBER: string | undefined) => {
    const problems: string[] = [];
    const tell = (text: string) => problems.push(text);
    return { value: readWholeNumber({ NUMBER }, "NUMBER", [1, 300], tell), problems };
  };

  it.each([
    [undefined, undefined],
    ["", undefined],
    ["1", 1],
    ["300", 300],
    ["007", 7],
  ])("is read from %j", (text, value) => {
    expect(read(text)).toEqual({ value, problems: [] });
  });

  it.each(["0", "301", "-1", "1.5", "1e2", "0x10", " 1", "1\n", "2147483648000", "eins"])(
    "is not %j",
    (text) => {
      const problems = ["NUMBER must be a whole number from 1 to 300."];
      expect(read(text)).toEqual({ value: undefined, problems });
    },
  );

  it("may be any port, including 0", () => {
    expect(problemsOf((problem) => readPort({ PORT: "0" }, "PORT", problem))).toEqual([]);
    expect(problemsOf((problem) => readPort({ PORT: "65536" }, "PORT", problem))).toEqual(["PORT"]);
  });
});
