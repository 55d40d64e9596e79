import { createPool } from "../../server/src/database/pool.ts";
import { sweepNotices } from "../../server/src/notice/notice-sweep.ts";

/** Sweeps notices until it is killed, a few subjects in each transaction: what a test kills and starts again. */
const [databaseUrl = ""] = process.argv.slice(2);
const pool = createPool(databaseUrl, 2);
for (;;) await sweepNotices(pool, 3);
