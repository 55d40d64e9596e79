import { spawn } from "node:child_process";

// npm run test:all                   every suite of CI, one after the other
// npm run test:all -- crash slow     only those suites
// npm run test:all -- --list         lists the suites

const VITEST = "vitest run";
const ON_MYSQL = "node tools/run-on-mysql.ts vitest run";

/** A suite: what it shows, its command, and whether CI runs it. */
type Suite = { readonly shows: string; readonly command: string; readonly isForCi: boolean };

const SUITES: Readonly<Record<string, Suite>> = {
  quick: { shows: "what npm test shows", command: "npm test", isForCi: true },
  slow: {
    shows: "limits over a whole minute, starts, rotations, metrics, traces, every page",
    command: `${VITEST} --project slow`,
    isForCi: true,
  },
  fairness: {
    shows: "floods, crowds and attacks beside others, one by one",
    command: `${VITEST} --project fairness`,
    isForCi: true,
  },
  crash: {
    shows: "what outlives real kills of every process",
    command: `${VITEST} --project crash`,
    isForCi: true,
  },
  mysql: {
    shows: "what a database has a part in, on the real MySQL",
    command: `${ON_MYSQL} --project real --project slow server/ test/contract test/core test/dashboard/attacks test/dashboard/session test/feed/ test/limits/limits test/limits/sixty-seconds test/delivery/round-trip`,
    isForCi: true,
  },
  upgrade: {
    shows: "the version before beside this one, under load and in the simulation",
    command: `${VITEST} --project upgrade && node test/simulation/main.ts --versions --minutes 0.5`,
    isForCi: true,
  },
  planted: {
    shows: "mistakes planted in deliveries, which the simulation finds",
    command: "node test/simulation/main.ts --planted",
    isForCi: false,
  },
  vitess: {
    shows: "what writes and reads, on two shards of a real Vitess; needs Go",
    command: `${ON_MYSQL} --project vitess --project crash-vitess`,
    isForCi: false,
  },
  split: {
    shows: "the shards of a Vitess split under load; needs Go",
    command: `${ON_MYSQL} --project split`,
    isForCi: false,
  },
  histories: {
    shows: "what clients saw in 10 minutes of cut ways and killed processes; needs Go",
    command: `${VITEST} --project histories`,
    isForCi: false,
  },
  deploy: {
    shows: "the image, Compose and Helm; needs root, Python and Go",
    command: `${VITEST} --project deploy`,
    isForCi: false,
  },
  "half-speed": {
    shows: "others' first attempts beside crowds, on one core; needs taskset",
    command: `taskset -c 0 ${VITEST} --project fairness test/delivery/fairness`,
    isForCi: false,
  },
  long: {
    shows: "a million reads of changing feeds, ten restarts of each process; 45 minutes",
    command: `FULL=1 ${VITEST} --project slow --project fairness test/feed/changing-feeds test/operating/restarts`,
    isForCi: false,
  },
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in SUITES) && name !== "--list");
if (names.includes("--list") || unknown.length > 0) {
  if (unknown.length > 0) process.stderr.write(`There is no suite ${unknown.join(", ")}.\n\n`);
  for (const [name, { shows, isForCi }] of Object.entries(SUITES)) {
    process.stdout.write(`${name.padEnd(12)} ${isForCi ? "CI" : "  "}  ${shows}\n`);
  }
  process.exit(unknown.length > 0 ? 1 : 0);
}

const chosen = Object.entries(SUITES).filter(([name, { isForCi }]) =>
  names.length > 0 ? names.includes(name) : isForCi,
);
const told: string[] = [];
for (const [name, { command }] of chosen) {
  const startedMs = performance.now();
  const code = await run(command);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
  told.push(`${name.padEnd(12)} ${seconds.padStart(5)} s  ${code === 0 ? "passed" : "FAILED"}`);
  if (code !== 0) process.exitCode = 1;
}
process.stdout.write(`\n${told.join("\n")}\n`);

function run(command: string): Promise<number | null> {
  const child = spawn(command, { shell: true, stdio: "inherit" });
  return new Promise((resolve) => child.on("close", resolve));
}
