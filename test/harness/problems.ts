import type { Problem } from "@activity/runtime/environment";

/** Reads settings. Returns their value, and the problems that `read` reported: sentences that begin with a variable. */
export function problemsOf<Value>(read: (problem: Problem) => Value) {
  const problems: string[] = [];
  const value = read((text) => problems.push(text));
  return { value, problems, variables: problems.map((text) => text.split(" ")[0]) };
}
