import { countAttempts } from "../../server/src/delivery-stat/delivery-stat.ts";
import { type TestDatabase, withProductPool } from "./database.ts";

/** Counts the recorded attempts, as each core does every half minute (`test/core/noted-later.test.ts`). */
export const countAttemptsNow = (database: TestDatabase) =>
  withProductPool(database, countAttempts);
