import { type Sample, sharedNowMs } from "../measure/sample.ts";
import { textWithId } from "../receiver/arrivals.ts";
import { answerJobs } from "../stack/jobs.ts";
import { keepConnectionsBusy, type Pace } from "./keep-busy.ts";

/** Contributions to write through the core's port. Each is the first of a subscription. */
export type Contributions = Pace & {
  readonly port: number;
  readonly credential: string;
  /** The accounts to write to, in turn. */
  readonly accountIds: readonly string[];
  /** The prefix of the writes' ids. The number of the write follows. */
  readonly run: string;
};

const jobs = {
  /** Writes contributions. Also returns when each call began on the shared clock, by the call's number. */
  async write(job: Contributions): Promise<Sample & { readonly beganMs: readonly number[] }> {
    const { port, credential, accountIds, run } = job;
    const beganMs: number[] = [];
    const sample = await keepConnectionsBusy(port, job, async (send, turn) => {
      const accountId = accountIds[turn % accountIds.length] ?? "";
      const request = requestOf(accountId, `${run}${turn}`, credential);
      beganMs[turn] = sharedNowMs();
      const { status, body } = await send(request);
      if (status === 200) return undefined;
      throw new Error(`answered with ${status}: ${body.toString()}`);
    });
    return { ...sample, beganMs };
  },
};
export type ContributionJobs = typeof jobs;

/** Encodes a call in Connect's JSON. */
function requestOf(accountId: string, id: string, credential: string): Buffer {
  const body = JSON.stringify({
    ...{ accountId, externalId: `c-${id}`, subscriptionExternalId: `s-${id}` },
    ...{ amountCents: "500", currency: "eur", donorName: "Ada", message: textWithId(id) },
    contributedAt: "2026-01-15T19:00:00Z",
  });
  const head = [
    "POST /activity.ingest.v1.DonationService/RecordContribution HTTP/1.1",
    "Host: 127.0.0.1",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Authorization: Bearer ${credential}`,
    "\r\n",
  ];
  return Buffer.from(head.join("\r\n") + body);
}

answerJobs(jobs);
