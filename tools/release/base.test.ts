import { afterEach, expect, it, vi } from "vitest";
import { findBase } from "./base.ts";

afterEach(() => vi.unstubAllEnvs());

it.each([
  ["is not installed", { PATH: "/no/such/folder" }, /spawnSync git ENOENT/],
  ["refuses the repository", { GIT_DIR: "/no/such/folder" }, /not a git repository/],
])("says that git %s, if no commit can be found", (_, variables, why) => {
  // Git translates its messages, but this test expects English.
  const english = { LC_ALL: "C", LANGUAGE: "" };
  for (const [name, value] of Object.entries({ ...english, ...variables })) vi.stubEnv(name, value);
  expect(() => findBase()).toThrow(why);
});
