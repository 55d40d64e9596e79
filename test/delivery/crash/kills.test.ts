import { describeKills } from "./harness-kills.ts";

// First attempts run under leases. With `kills-all.test.ts` these are twenty kills.
describeKills({ workflows: "retries", accounts: 5, writers: 64, rounds: 4 });
