import { createPool } from "../../server/src/database/pool.ts";
import { sweepNotices } from "../../server/src/notice/notice-sweep.ts";

/** A program that a test kills and restarts: it sweeps notices for ever, a few subjects in each transaction. */
const [databaseUrl = ""] = process.argv.slice(2);
const pool = createPool(databaseUrl, 2);
for (;;) await sweepNotices(pool, 3);
