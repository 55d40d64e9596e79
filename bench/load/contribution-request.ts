/** Marks the id of a write in its message, which its webhook event carries too. */
export const ID_IN_TEXT = /bid~([^~]+)-(\d+)~/;

/** Which write of which run it is: what tells its event from all others. */
export type WriteId = { readonly run: string; readonly turn: number };

/** Returns the bytes of a call, in Connect's JSON, that records the first contribution of a new subscription. */
export function contributionRequest(
  accountId: string,
  { run, turn }: WriteId,
  credential: string,
): Buffer {
  const id = `${run}-${turn}`;
  const body = JSON.stringify({
    accountId,
    externalId: `c-${id}`,
    subscriptionExternalId: `s-${id}`,
    amountCents: "500",
    currency: "eur",
    donorName: "Ada",
    message: `bid~${id}~ For the stream`,
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
