import { ATTACKS, type Attack } from "./harness-attacks.ts";

/** Floods the ports of `argv` from an address for a while, in a process of its own, and prints what it did. */
const [attack = "", address = "", durationMs = "", ...ports] = process.argv.slice(2);
const counts: Record<string, number> = {};
const endMs = performance.now() + Number(durationMs);
await ATTACKS[attack as Attack]({
  ports: ports.map(Number),
  address,
  isOver: () => performance.now() >= endMs,
  count(what, times = 1) {
    counts[what] = (counts[what] ?? 0) + times;
  },
});
console.log(JSON.stringify(counts));
process.exit();
