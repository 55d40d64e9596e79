import { describeKills } from "./harness-kills.ts";

// Every run is a workflow from its first attempt.
describeKills({ workflows: "all", accounts: 2, writers: 8, rounds: 1 });
