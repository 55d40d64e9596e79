import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { useOwner } from "../../../test/harness/owner.ts";
import { useServices } from "../../../test/harness/services.ts";
import { NOW_MICROS } from "../database/now.ts";
import { createClaims } from "./claim.ts";

const WAIT = { limit: 64, endpointLimit: 64, wait: { seconds: 10n } };
/** How long a claim leases an entry. ADR 0028 */
const LEASE_MICROS = 14_000_000;
const BEFORE_LEASE_ENDS = { timeout: 10_000 };

const services = useServices();
const { own, sendTest } = useOwner(services, { clears: ["outbox_entry"] });

/** Starts a poller that waits because it found nothing. It is idle, so that entries may be leased to it. */
async function startIdlePoller() {
  const caller = new AbortController();
  const call = { ...WAIT, idle: true };
  const claimed = services.dispatch.claimAttempts(call, { signal: caller.signal });
  claimed.catch(() => undefined);
  await expect.poll(isAnyIdle).toBe(true);
  const ids = async () => (await claimed).attempts.map(({ run }) => run?.deliveryId);
  return { claimed, ids, leave: () => caller.abort() };
}

/** Tells whether an idle poller waits and is not reserved. */
function isAnyIdle(): boolean {
  const reservation = services.outbox.attempts.reserve();
  reservation?.give([]);
  return reservation !== undefined;
}

/** Makes every claim that leases an entry fail while `work` runs. */
const withoutClaims = (work: () => Promise<void>) =>
  services.database.withTrigger("BEFORE UPDATE ON outbox_entry", work);

const leases = () =>
  services.database.query<{ id: string; lease: string | null; until: number }>(
    "SELECT delivery_id AS id, lease_id AS lease, leased_until AS until FROM outbox_entry ORDER BY delivery_id",
  );

/** The database's time in microseconds. */
const databaseTime = async () =>
  (await services.database.value<number>(`SELECT ${NOW_MICROS}`)) ?? 0;

it("after a start and after an outage, attempts whose leases have ended are left to their makers for 4.5 seconds. ADR 0028", async () => {
  let now = 0;
  let fail = () => {};
  const { store, outbox } = services;
  const claims = createClaims({
    ...services,
    store: {
      ...store,
      async listClaimable(...asked) {
        fail();
        return store.listClaimable(...asked);
      },
    },
    outbox: { ...outbox, timing: { ...outbox.timing, nowMs: () => now } },
  });
  const claim = async () => (await claims.attempts(8, 8)).entries.map((one) => one.deliveryId);
  const failures = {
    away() {
      throw new Error("away");
    },
    frozen() {
      now += 8_000;
    },
    // Runs during a search, as if an attempt could not be recorded meanwhile.
    unrecorded: claims.noteOutage,
  };
  for (const ends of ["start", "read-only", "away", "frozen", "unrecorded"] as const) {
    const made = await sendTest();
    if (ends !== "start") expect(await claim()).toEqual([made.deliveryId]);
    await services.database.query("UPDATE outbox_entry SET leased_until = 0");
    if (ends === "read-only") {
      claims.noteOutage();
      await claims.retries(8);
      expect(await claim()).toEqual([]);
      // While nothing can be written, the outage continues.
      for (let count = 0; count < 6; count++) {
        now += 4_000;
        claims.noteOutage();
      }
    } else if (ends !== "start") {
      fail = failures[ends];
      await expect(claim()).rejects.toThrow();
      fail = () => {};
    }
    const { deliveryId } = await sendTest();
    expect(await claim()).toEqual([deliveryId]);
    if (ends === "read-only") {
      now += 4_000;
      claims.noteOutage();
    }
    now += 4_499;
    expect(await claim()).toEqual([]);
    now += 1;
    expect(await claim()).toEqual([made.deliveryId]);
    if (ends === "away") {
      // Another outage begins soon after the first. Ended leases wait 4.5 seconds after its last failure.
      await services.database.query("UPDATE outbox_entry SET leased_until = 0");
      for (let count = 0; count < 3; count++) {
        now += 3_500;
        claims.noteOutage();
      }
      now += 3_600;
      expect(await claim()).toEqual([]);
    }
    await services.database.query("DELETE FROM outbox_entry");
    // Searches meanwhile, because ten seconds without a search would count as an outage.
    for (let count = 0; count < 3; count++) {
      now += 9_000;
      expect(await claim()).toEqual([]);
    }
  }
});

describe("a poller that waits, §6.4, ADR 0028", () => {
  it("gets a new entry without a claim when it is idle, leased by the transaction that wrote it", async () => {
    const poller = await startIdlePoller();
    const sent: string[] = [];
    const before = await databaseTime();
    await withoutClaims(async () => {
      sent.push((await sendTest()).deliveryId);
      expect(await poller.ids()).toEqual(sent);
    });
    const [entry, ...others] = await leases();
    expect(entry).toMatchObject({ id: sent[0], lease: expect.stringMatching(/^[a-z0-9]{15}$/) });
    expect(others).toEqual([]);
    const leasedAt = (entry?.until ?? 0) - LEASE_MICROS;
    expect(leasedAt).toBeGreaterThanOrEqual(before);
    expect(leasedAt).toBeLessThanOrEqual(await databaseTime());
    expect(await services.claim()).toEqual([]);
  });

  it("gets the same bytes, URL and secret as from a claim", async () => {
    const poller = await startIdlePoller();
    await sendTest();
    const { attempts: given } = await poller.claimed;
    await services.database.query("UPDATE outbox_entry SET leased_until = NULL");
    const call = { limit: 64, endpointLimit: 64 };
    const { attempts: claimed } = await services.dispatch.claimAttempts(call);
    expect(given).toHaveLength(1);
    expect(claimed).toEqual(given);
  });

  it("gets the next secret after its start, ADR 0034", async () => {
    const signsFrom = timestampFromMs(Date.now() + 3_600_000);
    const rotated = await services.endpoints.rotateSecret({ ...own, signsFrom });
    const given: (string | undefined)[] = [];
    for (const shift of ["0", "7200e6"]) {
      await services.database.query(
        `UPDATE endpoint SET next_secret_from = next_secret_from - ${shift} WHERE id = ?`,
        [own.endpointId],
      );
      const poller = await startIdlePoller();
      await withoutClaims(async () => {
        await sendTest();
        given.push((await poller.claimed).attempts[0]?.ready?.secret);
      });
    }
    expect(given).toEqual([expect.stringMatching(/^whsec_/), rotated.secret]);
    expect(given[0]).not.toBe(rotated.secret);
  });

  it("gets nothing from a transaction that rolls back", async () => {
    const poller = await startIdlePoller();
    const refused = services.database.withTrigger("BEFORE INSERT ON outbox_entry", sendTest);
    await expect(refused).rejects.toThrow();
    const { deliveryId } = await sendTest();
    expect(await poller.ids()).toEqual([deliveryId]);
  });

  it("leaves nothing leased when its caller disconnects while an entry is written for it", async () => {
    const poller = await startIdlePoller();
    await services.database.queryShards("LOCK TABLES outbox_entry WRITE");
    const sending = sendTest();
    await expect.poll(isAnyIdle).toBe(false);
    poller.leave();
    await expect(poller.claimed).rejects.toThrow();
    await services.database.queryShards("UNLOCK TABLES");
    const { deliveryId } = await sending;
    await expect.poll(() => services.claim(), BEFORE_LEASE_ENDS).toEqual([deliveryId]);
  });

  it("leaves nothing leased when its caller disconnects during its claim", async () => {
    const run = await sendTest();
    const gone = new AbortController();
    const asked = services.dispatch.claimAttempts(WAIT, { signal: gone.signal });
    gone.abort();
    await expect(asked).rejects.toThrow();
    // The aborted call's claim may still run. It releases the entry at its end.
    await expect.poll(() => services.claim(), BEFORE_LEASE_ENDS).toEqual([run.deliveryId]);
  });
});
