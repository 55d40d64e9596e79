import { expect, it } from "vitest";
import { useTestDatabase, withProductPool } from "../../../test/harness/database.ts";
import type { RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import { readActivityRows, readRawActivityRows } from "./activity-store.ts";

const database = useTestDatabase();

it("prepares 48 statements on a connection at most, as docs/configuration.md says", async () => {
  const position = { recordedAtMicros: 1, recordKey: "0" };
  const combinations = Array.from({ length: 2 ** 6 }, (_, bits) => {
    const has = (bit: number) => (bits >> bit) % 2 === 1;
    return {
      query: {
        ...{ limit: 1 + bits, ascending: has(0), type: Number(has(1)), platform: Number(has(2)) },
        sinceMicros: has(3) ? 1 : undefined,
        untilMicros: has(4) ? 2 : undefined,
      },
      after: has(5) ? position : undefined,
    };
  });
  await withProductPool(database, async (pool) => {
    for (const { query, after } of combinations) {
      await readActivityRows(pool, 1, query, after);
      await readRawActivityRows(pool, 1, query, after);
    }
    const statuses = await queryWithin<(RowDataPacket & { Value: string })[]>(
      pool,
      "SHOW SESSION STATUS WHERE Variable_name IN ('Com_stmt_prepare', 'Com_stmt_reprepare')",
      [],
    );
    // MySQL prepares a statement again when it first gets values. Both variables count that; their difference does not.
    const [prepared, again] = statuses.map(({ Value }) => Number(Value)).sort((a, b) => b - a);
    expect(Number(prepared) - Number(again)).toBe(48);
  });
});
