import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The slowest files, slowest first. */
const LONGEST = [
  "test/delivery/crash/kills.test.ts",
  "test/kit/exactly-once.test.ts",
  "test/limits/sixty-seconds.test.ts",
  "test/start/start.test.ts",
  "test/operating/first-day.test.ts",
  "test/operating/rotation.test.ts",
  "server/src/database/lost-connection.integration.test.ts",
  "test/core/before-the-body.test.ts",
  "test/dashboard/browser/looks.test.ts",
  "test/core/noted-later.test.ts",
  "test/dashboard/browser/getting-in.test.ts",
  "test/limits/redis-cluster.test.ts",
  "receiver-kit/test/stores/sqlite.test.ts",
  "receiver-kit/test/stores/redis.test.ts",
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
