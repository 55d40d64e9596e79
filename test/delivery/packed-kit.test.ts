import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DeliveryService, DeliveryState } from "@activity/proto";
import { beforeAll, expect, it } from "vitest";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { pinned } from "../../receiver-kit/scripts/check-consumer.ts";
import { installProject } from "../../receiver-kit/scripts/install-project.ts";
import { readCodeBlocks } from "../../receiver-kit/test/docs/code-blocks.ts";
import { packPackage } from "../../tools/release/published.ts";
import { baseEnv } from "../harness/base-env.ts";
import { createAccount, createEndpoint, createPaidDonation } from "../harness/builders.ts";
import { untilListening } from "../harness/listening.ts";
import { useFolder } from "../harness/use-started.ts";
import { useRuns, watch } from "../start/harness-program.ts";
import { useDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";
import { sharedCertificates } from "./harness-receiver-certificates.ts";

/** The time limit of a delivery: if a retry cannot reach the receiver, the next one follows in five minutes. §6.4 */
const DELIVERED = { timeout: 400_000, interval: 500 };

const port = await findFreePort();
const allowed = { WEBHOOK_ALLOWED_TARGETS: `127.0.0.1:${port}` };
const delivery = useDeliveryStack(answer(200), { env: allowed, core: allowed });
const folder = useFolder("packed-kit");
const file = (name: string) => join(folder, name);

/**
 * Changes to the README's complete receiver: TLS, an effect in the store's transaction, and points where it kills
 * itself.
 */
const CHANGES = [
  ["createSqliteStore", "createSqliteTransactionStore"],
  [
    "async handle(event) {",
    `async handle(event) {
      reach("work");
      db.prepare("INSERT INTO reward (event_id) VALUES (?)").run(event.id);
      reach("commit");`,
  ],
  [
    "app.post(",
    `let times = 0;
    const reach = (point) =>
      process.env.KILLED_BEFORE === point && ++times === 3 && process.kill(process.pid, "SIGKILL");
    app.use((request, response, next) => {
      const { end } = response;
      response.end = (...content) => (reach("answer"), end.apply(response, content));
      next();
    });
    app.post(`,
  ],
  [
    "app.listen(3000)",
    `createServer(${JSON.stringify(sharedCertificates().good)}, app).listen(${port})`,
  ],
] as const;

beforeAll(() => {
  installProject(folder, [packPackage("receiver-kit", folder), pinned("express")]);
  let code = readCodeBlocks("README.md").get("express.js") ?? "";
  for (const [from, to] of CHANGES) code = code.replaceAll(from, to);
  writeFileSync(file("express.mjs"), `import { createServer } from "node:https";\n${code}`);
  // The table has no unique key, so only the kit prevents a duplicate.
  const db = new DatabaseSync(file("webhooks.db"));
  db.exec("CREATE TABLE reward (event_id TEXT NOT NULL)");
  db.close();
});

const start = useRuns((secret: string, killedBefore: string) => {
  const env = { ...baseEnv(), WEBHOOK_SECRET: secret, KILLED_BEFORE: killedBefore };
  return watch(spawn(process.execPath, ["express.mjs"], { cwd: folder, env }));
});

it("each event has its effect exactly once at a receiver built on the packed kit, killed before the work, the commit and the answer. §6.3", async () => {
  const { stack } = delivery;
  const accountId = await createAccount(stack);
  const url = `https://127.0.0.1:${port}/webhooks`;
  const { secret } = await createEndpoint(stack, accountId, url);
  for (const point of ["work", "commit", "answer", "none"]) {
    const { child } = start(secret, point);
    await untilListening(child, port);
    if (point === "none") break;
    await Promise.all(Array.from({ length: 7 }, () => createPaidDonation(stack, accountId)));
    await expect.poll(() => child.signalCode).toBe("SIGKILL");
  }
  const list = { accountId, pageSize: 100 };
  const read = async () => (await stack.client(DeliveryService).listDeliveries(list)).deliveries;
  const isOpen = ({ state }: { state: DeliveryState }) => state !== DeliveryState.DELIVERED;
  await expect.poll(async () => (await read()).filter(isOpen), DELIVERED).toEqual([]);
  const eventIds = (await read()).map(({ eventId }) => eventId);
  expect(eventIds).toHaveLength(21);
  const rewards = new DatabaseSync(file("webhooks.db"))
    .prepare("SELECT event_id FROM reward")
    .all();
  expect(rewards.map((reward) => reward.event_id).toSorted()).toEqual(eventIds.toSorted());
}, 500_000);
