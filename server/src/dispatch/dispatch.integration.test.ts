import { AttemptOutcome, WebhookEventKind } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, it } from "vitest";
import { createPaidDonation } from "../../../test/harness/builders.ts";
import { useOwner } from "../../../test/harness/owner.ts";
import { firstRunOf, madeAttempt, type Run, useServices } from "../../../test/harness/services.ts";

const { TIMEOUT } = AttemptOutcome;
const IN_A_MINUTE = { retryIn: { seconds: 60n } };

const services = useServices();
const { own, sendTest } = useOwner(services, { clears: ["outbox_entry"] });
let secret: string;
beforeEach(async () => {
  secret = (await services.endpoints.rotateSecret(own)).secret;
});

const load = async (run: Run, attempt = 1) =>
  (await services.dispatch.loadAttempt({ run, attempt })).step;
const claimRetries = async () => (await services.dispatch.claimRetries({ limit: 256 })).retries;

it("returns the same installation id each time", async () => {
  const { id } = await services.dispatch.getInstallation({});
  expect(id).toMatch(/^[0-9a-f]{12}$/);
  expect((await services.dispatch.getInstallation({})).id).toBe(id);
});

describe("an attempt of a workflow, §6.4", () => {
  it("is loaded with the current URL and secret, and with the original bytes, also after its kind is switched off", async () => {
    await createPaidDonation(services, own.accountId);
    const [deliveryId = ""] = await services.claim();
    const run = firstRunOf(own.accountId, deliveryId);
    const before = await load(run);
    const url = "https://example.com/hook";
    expect(before).toMatchObject({
      case: "ready",
      value: { endpointId: own.endpointId, url, secret, standardWebhooks: false },
    });
    const rotated = await services.endpoints.rotateSecret(own);
    const changed = { url: "https://example.org/next", standardWebhooks: true };
    const kinds = { kinds: [WebhookEventKind.DONATION_REFUNDED] };
    await services.endpoints.updateEndpoint({ ...own, ...changed, kinds });
    const after = await load(run);
    expect(after).toMatchObject({
      case: "ready",
      value: { endpointId: own.endpointId, ...changed, secret: rotated.secret },
    });
    expect(rotated.secret).not.toBe(secret);
    const payloads = [before, after].map((step) => step.case === "ready" && step.value.payload);
    expect(payloads[0]).toEqual(payloads[1]);
  });

  it("is loaded with its outcome and end once it is recorded, and is not made again", async () => {
    const run = await sendTest();
    const startedAt = timestampFromMs(1_600_000_000_000);
    const made = { startedAt, duration: { seconds: 2n, nanos: 5_000_000 }, ...IN_A_MINUTE };
    await services.record(run, TIMEOUT, made);
    expect(await load(run)).toMatchObject({
      case: "recorded",
      value: { outcome: TIMEOUT, endedAt: timestampFromMs(1_600_000_002_005) },
    });
    expect(await load(run, 2)).toMatchObject({ case: "ready" });
  });
});

describe("a run whose first attempt must be retried, §6.4, ADR 0028", () => {
  it("is claimed with its attempts and the time of the next one", async () => {
    const run = await sendTest();
    const startedAt = timestampFromMs(1_600_000_000_000);
    await services.record(run, TIMEOUT, { startedAt, duration: { seconds: 1n }, ...IN_A_MINUTE });
    const endedAt = timestampFromMs(1_600_000_001_000);
    const [retry, ...others] = await claimRetries();
    expect(others).toEqual([]);
    expect(retry).toMatchObject({ run, attempts: [{ outcome: TIMEOUT, endedAt }] });
    expect(Number(retry?.dueIn?.seconds)).toBeGreaterThan(50);
    expect(Number(retry?.dueIn?.seconds)).toBeLessThanOrEqual(60);
    expect(await claimRetries()).toEqual([]);
  });

  it("is due now, not in the past, when its next attempt is overdue", async () => {
    await services.record(await sendTest(), TIMEOUT, IN_A_MINUTE);
    await services.database.query("UPDATE delivery SET next_attempt_at = next_attempt_at - 12e7");
    expect((await claimRetries())[0]?.dueIn).toMatchObject({ seconds: 0n, nanos: 0 });
  });

  it("wakes a waiting poller, also if another attempt of its call cannot be stored", async () => {
    const [run, unstorable] = [await sendTest(), await sendTest()];
    const refuse = `IF NEW.delivery_id = '${unstorable.deliveryId}' THEN SIGNAL SQLSTATE '45000'; END IF`;
    // The poller looks at once. The next sweep comes after five seconds, so only a notification can wake the poller.
    services.outbox.retries.notify();
    const waiting = services.dispatch.claimRetries({ limit: 8, wait: { seconds: 4n } });
    const attempts = [run, unstorable].map((each) => madeAttempt(each, TIMEOUT, IN_A_MINUTE));
    const recorded = services.database.withTrigger(
      "BEFORE INSERT ON delivery_attempt",
      () => services.dispatch.recordAttempts({ attempts }),
      refuse,
    );
    await expect(recorded).rejects.toThrow();
    expect((await waiting).retries).toMatchObject([{ run }]);
  });

  it("is claimed within the limit, with only its own attempts", async () => {
    const runs = [await sendTest(), await sendTest(), await sendTest()];
    await services.dispatch.recordAttempts({
      attempts: runs.map((run) => madeAttempt(run, TIMEOUT, IN_A_MINUTE)),
    });
    const [last] = runs.slice(-1);
    await services.record(last, AttemptOutcome.DNS_FAILED, { attempt: 2, ...IN_A_MINUTE });
    const { retries } = await services.dispatch.claimRetries({ limit: 2 });
    expect(retries).toHaveLength(2);
    const all = [...retries, ...(await claimRetries())];
    const outcomes = runs.map(
      (run) =>
        all
          .find((retry) => retry.run?.deliveryId === run.deliveryId)
          ?.attempts.map(({ outcome }) => outcome) ?? [],
    );
    expect(outcomes).toEqual([[TIMEOUT], [TIMEOUT], [TIMEOUT, AttemptOutcome.DNS_FAILED]]);
  });
});
