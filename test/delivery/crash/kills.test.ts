import { describeKills } from "./harness-kills.ts";

// First attempts run under leases. With `kills-all.test.ts` these are 20 kills, and 25 on Vitess.
describeKills({ workflows: "retries", accounts: 5, writers: 64, rounds: 4 });
