import type { KitReceiver, KitStack } from "./harness-kit.ts";
import { readDeliveries } from "./harness-story.ts";

/** Writes what a receiver went through, so that a run shows what it held. */
export async function tell(kit: KitStack, receiver: KitReceiver): Promise<void> {
  const { name, process: program, faults } = receiver;
  const { length: events } = await readDeliveries(kit, receiver);
  const happened = [...faults.happened].map(([fault, { length }]) => `${length} ${fault}`);
  const lines = [
    `${name}: ${events} events, the effect of each there once`,
    `SIGKILL ${program.killCount()} times; planned: ${happened.toSorted().join(", ")}`,
    `repetitions at work: ${countEach(faults.repetitions.map((status) => status || "no answer"))}`,
    `the product's attempts: ${countEach(await readAnswers(kit, receiver))}`,
  ];
  process.stderr.write(`${lines.join("\n  ")}\n`);
}

/** Reads what became of every attempt: its status, or what went wrong. */
export async function readAnswers(
  { stack }: KitStack,
  { endpointId }: KitReceiver,
): Promise<string[]> {
  const rows = await stack.database.query<{ answer: string; run: number }>(
    `SELECT COALESCE(a.status_code, a.detail) AS answer, a.run
     FROM delivery_attempt a JOIN delivery d ON d.account_no = a.account_no AND d.id = a.delivery_id
     WHERE d.endpoint_id = ?`,
    [endpointId],
  );
  return rows.map(({ answer, run }) => (run > 1 ? `${answer} after the owner's retry` : answer));
}

function countEach(texts: readonly (string | number)[]): string {
  const counts = new Map<string | number, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].map(([text, count]) => `${count} × ${text}`).join(", ");
}
