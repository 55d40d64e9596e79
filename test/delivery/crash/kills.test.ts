import { describeKills } from "./harness-kills.ts";

// First attempts run under leases. This file and `kills-all.test.ts` make 20 kills together, 25 on Vitess.
describeKills({ workflows: "retries", accounts: 5, writers: 64, rounds: 4 });
