import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { problemsOf } from "../../test/harness/problems.ts";
import { useFolder } from "../../test/harness/use-started.ts";
import {
  ConfigError,
  type Problem,
  readAllowedTargets,
  readPem,
  readPort,
  readSecret,
  readSettings,
  readWholeNumber,
  refuseUnsafeTargets,
} from "./environment.ts";

const UNSAFE = { WEBHOOK_ALLOWED_TARGETS: "127.0.0.1:1", WEBHOOK_EXTRA_CA: "/ca.pem" };
const DEVELOPMENT = { ALLOW_UNSAFE_TARGETS: "development" };

it.each([
  [{}, []],
  [UNSAFE, Object.keys(UNSAFE)],
  [{ ...UNSAFE, ...DEVELOPMENT }, []],
  [{ ...UNSAFE, ALLOW_UNSAFE_TARGETS: "yes" }, ["ALLOW_UNSAFE_TARGETS", ...Object.keys(UNSAFE)]],
])("unsafe targets are allowed for development only: %o", (env, expected) => {
  const { variables } = problemsOf((problem) => refuseUnsafeTargets(env, problem));
  expect(variables).toEqual(expected);
});

it("a list may have spaces around its items, and empty items", () => {
  const env = { WEBHOOK_ALLOWED_TARGETS: " 127.0.0.1:1, receiver:2,," };
  const { value, problems } = problemsOf((problem) => readAllowedTargets(env, problem));
  expect([...value]).toEqual(["127.0.0.1:1", "receiver:2"]);
  expect(problems).toEqual([]);
});

describe("a PEM file", () => {
  const folder = useFolder("pem");

  it("that is empty or cannot be read is reported, without its path", () => {
    const empty = join(folder, "geheim");
    writeFileSync(empty, "");
    for (const PEM of [empty, folder, "geheim"]) {
      const { value, problems } = problemsOf((problem) => readPem({ PEM }, "PEM", problem));
      expect(value).toBeUndefined();
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
  const read = (env: Record<string, string>) =>
    problemsOf((problem) => readSecret(env, "KEY", problem));

  it("is the variable's value, or empty", () => {
    expect(read({ KEY: "geheim\n" })).toMatchObject({ value: "geheim\n", problems: [] });
    expect(read({})).toMatchObject({ value: "", problems: [] });
    expect(read({ KEY: "geheim", KEY_FILE: "" })).toMatchObject({ value: "geheim", problems: [] });
  });

  it.each(["geheim", "geheim\n", "geheim\r\n"])(
    "is its file's content without the final newline: %j",
    (content) => {
      const { value, problems } = read({ KEY_FILE: fileWith(content) });
      expect([value, problems]).toEqual(["geheim", []]);
      expect(read({ KEY: "", KEY_FILE: fileWith(content) }).value).toBe("geheim");
    },
  );

  it("may not be in both the variable and a file", () => {
    const both = read({ KEY: "geheim", KEY_FILE: fileWith("geheim") });
    const problems = ["KEY and KEY_FILE are both set: unset one of them."];
    expect(both).toMatchObject({ value: undefined, problems });
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
  const read = (NUMBER: string | undefined) =>
    problemsOf((problem) => readWholeNumber({ NUMBER }, "NUMBER", [1, 300], problem));

  it.each([
    [undefined, undefined],
    ["", undefined],
    ["1", 1],
    ["300", 300],
    ["007", 7],
  ])("is read from %j", (text, value) => {
    expect(read(text)).toMatchObject({ value, problems: [] });
  });

  it.each(["0", "301", "-1", "1.5", "1e2", "0x10", " 1", "1\n", "2147483648000", "eins"])(
    "is not %j",
    (text) => {
      const problems = ["NUMBER must be a whole number from 1 to 300."];
      expect(read(text)).toMatchObject({ value: undefined, problems });
    },
  );

  it("may be any port, including 0", () => {
    const readFrom = (PORT: string) => problemsOf((problem) => readPort({ PORT }, "PORT", problem));
    expect(readFrom("0").variables).toEqual([]);
    expect(readFrom("65536").variables).toEqual(["PORT"]);
  });
});
