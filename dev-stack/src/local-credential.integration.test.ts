import { administerServiceCredentials, createLog } from "@activity/server";
import { expect, it } from "vitest";
import { useTestDatabase } from "../../test/harness/database.ts";
import { createLocalCredential, startRenewal } from "./local-credential.ts";

const DAY_MICROS = 86_400_000_000;
const MINUTE_MICROS = 60_000_000;

const database = useTestDatabase();

const log: string[] = [];
const renewEvery = (credential: string, intervalMs: number) =>
  startRenewal(
    database.url,
    credential,
    createLog((line) => void log.push(line)),
    intervalMs,
  );

/** How many days from its creation on the only credential works. */
async function daysOfLife(): Promise<number> {
  const administration = administerServiceCredentials(database.url);
  const [credential] = await administration.list();
  await administration.close();
  if (credential === undefined) throw new Error("there is none");
  return Math.floor((credential.expiresAtMicros - credential.createdAtMicros) / DAY_MICROS);
}

const expireSoon = () =>
  database.query("UPDATE service_credential SET expires_at = created_at + ?", [10 * MINUTE_MICROS]);

it("the credential of npm start is renewed at its start, and again while it runs", async () => {
  const credential = await createLocalCredential(database.url);
  expect(await daysOfLife()).toBe(90);
  await expireSoon();
  const stopOnce = renewEvery(credential, 3_600_000);
  await expect.poll(daysOfLife).toBe(90);
  stopOnce();

  const stop = renewEvery(credential, 50);
  for (const _ of [1, 2]) {
    await expireSoon();
    await expect.poll(daysOfLife).toBe(90);
  }
  expect(log).toEqual([]);

  await database.query("UPDATE service_credential SET revoked_at = 1");
  await expect.poll(() => log.join("")).toContain("is revoked or expired");
  stop();
});
