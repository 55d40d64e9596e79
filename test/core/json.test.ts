import { gzipSync } from "node:zlib";
import { DonationService } from "@activity/proto";
import { Permission } from "@activity/server";
import { expect, it } from "vitest";
import { createAccount, createPaidDonation } from "../harness/builders.ts";
import { useTestStack } from "../harness/stack.ts";

const stack = useTestStack();

/** Makes a call in JSON, as `docs/first-day.md` does. Returns its HTTP status and error code. */
async function post(method: string, body: Buffer, isCompressed = false) {
  const credential = await stack.credential(Permission.DonationWrite);
  const url = `http://127.0.0.1:${stack.corePort}/${DonationService.typeName}/${method}`;
  const answer = await fetch(url, {
    method: "POST",
    headers: {
      ...{ "content-type": "application/json", authorization: `Bearer ${credential}` },
      ...(isCompressed && { "content-encoding": "gzip" }),
    },
    body: new Uint8Array(isCompressed ? gzipSync(body) : body),
  });
  return [answer.status, ((await answer.json()) as { code?: string }).code];
}
const REFUSED = [400, "invalid_argument"];

it.each([false, true])(
  "a call in JSON that is not UTF-8 is refused, because two ids could become one; compressed: %s",
  async (isCompressed) => {
    const accountId = await createAccount(stack);
    const donation = { accountId, externalId: "é1", amountCents: "500", currency: "eur" };
    const body = Buffer.from(JSON.stringify(donation), "latin1");
    expect(await post("CreateDonation", body, isCompressed)).toEqual(REFUSED);
  },
);

it("a call in JSON with an unknown field or enum name is refused: without it, the call would do more", async () => {
  const accountId = await createAccount(stack);
  const { externalId } = await createPaidDonation(stack, accountId);
  for (const more of [{ platform: "PLATFORM_CVS" }, { platfrom: "PLATFORM_CSV" }]) {
    const body = Buffer.from(JSON.stringify({ accountId, externalId, ...more }));
    expect(await post("DeleteDonation", body)).toEqual(REFUSED);
  }
  const body = Buffer.from(JSON.stringify({ accountId, externalId }));
  expect(await post("DeleteDonation", body)).toEqual([200, undefined]);
});

it("a call in JSON with a date or number that would be stored as another is refused", async () => {
  const key = { accountId: await createAccount(stack), externalId: "json" };
  const money = { amountCents: "500", currency: "eur", donatedAt: "2024-02-29T00:00:00Z" };
  const create = (changes: object, isCompressed?: boolean) =>
    post(
      "CreateDonation",
      Buffer.from(JSON.stringify({ ...key, ...money, ...changes })),
      isCompressed,
    );
  for (const changes of [
    { donatedAt: "2026-02-30T00:00:00Z" },
    { donatedAt: "2026-01-01T24:00:00Z" },
    { amountCents: "0x10" },
  ]) {
    expect(await create(changes)).toEqual(REFUSED);
    expect(await create(changes, true)).toEqual(REFUSED);
  }
  expect(await create({})).toEqual([200, undefined]);
});
