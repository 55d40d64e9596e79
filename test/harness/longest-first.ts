import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The slowest files, slowest first. */
const LONGEST = [
  "test/delivery/crash/kills.test.ts",
  "test/start/start.test.ts",
  "test/dashboard/browser/owner-tasks.test.ts",
  "test/dashboard/browser/looks.test.ts",
  "test/dashboard/browser/getting-in.test.ts",
  "test/operating/first-day.test.ts",
  "test/operating/rotation.test.ts",
  "test/feed-client/overlay.test.ts",
  "test/delivery/packed-kit.test.ts",
  "test/limits/sixty-seconds.test.ts",
  "server/src/delivery/list-deliveries.integration.test.ts",
  "import/src/import.integration.test.ts",
  "test/dashboard/browser/hostile-text.test.ts",
  "test/limits/redis-cluster.test.ts",
  "test/simulation/simulation.test.ts",
  "receiver-kit/test/docs/other-languages.test.ts",
  "receiver-kit/test/stores/redis.test.ts",
  "receiver-kit/test/stores/sqlite.test.ts",
];

/**
 * Starts the slowest files first, so that no worker waits for one at the end. Vitest sorts by the previous run's
 * times, which a fresh clone does not have.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => groupOf(a) - groupOf(b) || placeOf(a) - placeOf(b));
  }
}

function groupOf({ project }: TestSpecification): number {
  return project.config.sequence.groupOrder;
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = LONGEST.findIndex((path) => moduleId.endsWith(path));
  return place === -1 ? LONGEST.length : place;
}
