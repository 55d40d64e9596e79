import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { cpus } from "node:os";
import { measure, measureCore } from "../scripts/core-size.ts";
import { type Contender, createContenders } from "./contenders.ts";
import { measureSideBySide } from "./measure.ts";

const SIZES = [400, 4096, 65_536];
const WANTED_RATIO = 2;
// `--short` only shows that the bench runs. Its numbers mean nothing.
const ROUNDS = process.argv.includes("--short") ? 1 : 15;
const PEERS = ["standardwebhooks", "svix", "stripe", "@octokit/webhooks-methods"];

const MACHINE = `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, ${process.platform}`;
console.log(`${new Date().toISOString()}, ${MACHINE}, Node ${process.version}`);
console.log("From the bytes as they came to a checked, parsed event");
for (const size of SIZES) {
  const contenders = await createContenders(createBody(size));
  const timesNs = await measureSideBySide(
    contenders.map((contender) => contender.verify),
    ROUNDS,
  );
  printTimes(size, contenders, timesNs);
}
console.log("\nSize, minified and gzipped, with all dependencies (Node's own modules left out)");
const core = await measureCore();
console.log(`  ${"receiver-kit (whole main entry)".padEnd(34)} ${formatBytes(core.gzipped)}`);
for (const name of PEERS) {
  const { gzipped } = await measure(`export * from "${name}";`, []);
  console.log(`  ${`${name} ${versionOf(name)}`.padEnd(34)} ${formatBytes(gzipped)}`);
}

function versionOf(name: string): string {
  const manifest = findPackageJSON(name, import.meta.url) ?? "";
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}

/** Creates a donation of `size` bytes, with a message of the needed length. */
function createBody(size: number): Buffer {
  const envelope = (message: string) => {
    const created_at = "2026-01-01T00:00:00.000000Z";
    const money = { amount_cents: 500, currency: "eur" };
    const data = {
      id: "0123456789abcde",
      ...money,
      donor_name: "Ada",
      message,
      paid_at: created_at,
    };
    const id = "wev_0123456789abcde";
    return JSON.stringify({ id, type: "donation.created", created_at, test: false, data });
  };
  const words = "Thank you for the stream, see you soon! ".repeat(size / 40 + 1);
  return Buffer.from(envelope(words.slice(0, size - envelope("").length)));
}

function printTimes(
  size: number,
  contenders: readonly Contender[],
  timesNs: readonly number[],
): void {
  console.log(`\n${size} bytes`);
  for (const [index, { name, without }] of contenders.entries()) {
    const timeNs = timesNs[index] ?? Number.NaN;
    const rate = Math.round(1e9 / timeNs).toLocaleString("en");
    const time = `${(timeNs / 1000).toFixed(2)} µs`;
    console.log(
      `  ${name.padEnd(38)} ${time.padStart(10)} ${rate.padStart(10)}/s  ${without ?? ""}`,
    );
  }
  const timed = contenders.map((contender, index) => ({
    ...contender,
    timeNs: timesNs[index] ?? Number.NaN,
  }));
  const peers = timed.filter(({ role }) => role === "peer");
  const others = timed.filter(({ role }) => role !== "peer");
  const alike = peers.filter(({ without }) => without === undefined);
  printRatios("fastest peer that checks the timestamp", alike, others);
  printRatios("fastest peer of all", peers, others);
}

type Timed = Contender & { readonly timeNs: number };

/** Prints the speed of the kit and of each floor, as a multiple of the fastest peer's. */
function printRatios(name: string, peers: readonly Timed[], others: readonly Timed[]): void {
  const peerNs = Math.min(...peers.map(({ timeNs }) => timeNs));
  console.log(`  times as fast as the ${name} (${WANTED_RATIO} wanted):`);
  for (const other of others) {
    const ratio = peerNs / other.timeNs;
    const verdict = ratio >= WANTED_RATIO ? "reached" : "not reached";
    console.log(`    ${other.name.padEnd(36)} ${ratio.toFixed(2).padStart(6)}  ${verdict}`);
  }
}

function formatBytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`.padStart(10);
}
