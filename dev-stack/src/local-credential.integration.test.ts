import { createLog } from "@activity/runtime/log";
import { expect, it } from "vitest";
import { useTestDatabase } from "../../test/harness/database.ts";
import { createLocalCredential, startRenewal } from "./local-credential.ts";

const database = useTestDatabase();

/** How many days the only credential is valid, from its creation. */
async function daysOfLife(): Promise<number> {
  const sql = "SELECT (expires_at - created_at) DIV 86400000000 FROM service_credential";
  return Number(await database.value(sql));
}

it("the credential of npm start is renewed while it runs", async () => {
  const credential = await createLocalCredential(database.url);
  expect(await daysOfLife()).toBe(90);
  const said: string[] = [];
  const log = createLog((line) => void said.push(line));
  const stop = startRenewal(database.url, credential, log, 50);
  for (const _ of [1, 2]) {
    await database.query("UPDATE service_credential SET expires_at = created_at + 600000000");
    await expect.poll(daysOfLife).toBe(90);
  }
  expect(said).toEqual([]);
  await database.query("UPDATE service_credential SET revoked_at = 1");
  await expect.poll(() => said.join("")).toContain("is revoked or expired");
  stop();
});
