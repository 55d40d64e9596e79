import type { Problem } from "../../src/receiver/problem.ts";
import { createMemoryStore } from "../../src/stores/memory/index.ts";
import { SECRET } from "../signed-delivery.ts";

/** Options of a receiver without work, and the errors that it reports. */
export function collectProblems() {
  const problems: unknown[] = [];
  const onProblem = ({ error }: Problem) => problems.push(error);
  const options = { secrets: SECRET, store: createMemoryStore(), handle: () => {}, onProblem };
  return { problems, options };
}
