import { HealthCheckResponse_ServingStatus as Status } from "@activity/proto/infrastructure";
import type { HandlerContext } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { useTestDatabase } from "../../../test/harness/database.ts";
import { createPool } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import { createHealthService } from "./health-service.ts";
import { createReadiness } from "./readiness.ts";

const database = useTestDatabase();

it("queries the database at most once a second, however many callers check and watch, ADR 0037", async () => {
  const pool = createPool(database.url, 10);
  // Connects first, because the deadline of readiness is one second of real time.
  await queryWithin(pool, "SELECT 1", []);
  let asked = 0;
  pool.pool.on("acquire", () => {
    asked += 1;
  });
  let nowMs = 0;
  const health = createHealthService(
    createReadiness(pool, () => nowMs),
    new Set(["known"]),
  );
  const ask = async (service: string) => {
    const context = { signal: new AbortController().signal } as HandlerContext;
    const watching = health.watch({ service } as never, context)[Symbol.asyncIterator]();
    const [checked, watched] = await Promise.all([
      health.check({ service } as never, context),
      watching.next(),
    ]);
    void watching.return?.();
    return [checked.status, watched.value?.status];
  };

  const answers = await Promise.all(Array.from({ length: 20 }, () => ask("known")));
  expect(answers).toEqual(answers.map(() => [Status.SERVING, Status.SERVING]));
  expect(asked).toBe(1);
  nowMs += 999;
  await ask("known");
  expect(asked).toBe(1);
  nowMs += 1;
  await Promise.all([ask("known"), ask("")]);
  expect(asked).toBe(2);
  await pool.end();
});
