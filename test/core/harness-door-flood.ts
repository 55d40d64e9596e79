import { DOOR_ATTACKS, type DoorAttack } from "./harness-door-attacks.ts";

/** Runs an attack of `argv` on a core's port for a while, in a process of its own, and prints what it did. */
const [attack = "", address = "", durationMs = "", port = "", credential = ""] =
  process.argv.slice(2);
const counts: Record<string, number> = {};
const endMs = performance.now() + Number(durationMs);
await DOOR_ATTACKS[attack as DoorAttack]({
  port: Number(port),
  address,
  credential,
  isOver: () => performance.now() >= endMs,
  count(what, times = 1) {
    counts[what] = (counts[what] ?? 0) + times;
  },
});
console.log(JSON.stringify(counts));
process.exit();
