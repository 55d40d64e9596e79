import { createPool } from "../../server/src/database/pool.ts";
import { sweepNotices } from "../../server/src/notice/notice-sweep.ts";

/** A test kills and restarts this program. It sweeps notices until then, three subjects in each transaction. */
const [databaseUrl = ""] = process.argv.slice(2);
const pool = createPool(databaseUrl, 2);
for (;;) await sweepNotices(pool, 3);
