import { DonationService } from "@activity/proto";
import { administerServiceCredentials, Permission } from "@activity/server";
import { Code, ConnectError } from "@connectrpc/connect";
import { beforeAll, describe, expect, it } from "vitest";
import { createAccount } from "../harness/builders.ts";
import { useTestStack } from "../harness/stack.ts";

/** The five seconds that a credential is cached (ADR 0011), and what a call takes on a busy machine. */
const ENDS_WITHIN_MS = 6_000;

const stack = useTestStack();
let accountId: string;
beforeAll(async () => {
  accountId = await createAccount(stack);
});

/** Pays a donation that is not there, which the core refuses to everybody, and returns how. */
async function failureWith(credential: string): Promise<ConnectError> {
  const donations = stack.client(DonationService, { authorization: `Bearer ${credential}` });
  const answer = donations.payDonation({ accountId, externalId: "none" });
  return answer.then(() => expect.unreachable(), ConnectError.from);
}

const refusalOf = ({ code, rawMessage, details }: ConnectError) => ({ code, rawMessage, details });

async function newestName(): Promise<string> {
  const administration = administerServiceCredentials(stack.database.url);
  const name = (await administration.list()).at(-1)?.name ?? "";
  await administration.close();
  return name;
}

async function revoke(): Promise<void> {
  const name = await newestName();
  const administration = administerServiceCredentials(stack.database.url);
  expect(await administration.revoke(name)).toBe(true);
  await administration.close();
}

async function expire(): Promise<void> {
  await stack.database.query(
    "UPDATE service_credential SET expires_at = created_at + 1 WHERE name = ?",
    [await newestName()],
  );
}

describe.each([
  ["revoked", revoke],
  ["expired", expire],
])("a service credential that is %s", (_state, end) => {
  it("is refused within five seconds, in the words for one that never was", async () => {
    const unknown = refusalOf(await failureWith(`act_svc_${"0".repeat(64)}`));
    expect(unknown.code).toBe(Code.Unauthenticated);

    const credential = await stack.credential(Permission.DonationWrite);
    expect(await failureWith(credential)).toMatchObject({ code: Code.NotFound });
    await end();
    await expect
      .poll(async () => refusalOf(await failureWith(credential)), { timeout: ENDS_WITHIN_MS })
      .toEqual(unknown);
  });

  it("is refused at once where it was not seen before", async () => {
    const credential = await stack.credential(Permission.DonationWrite);
    await end();
    expect(await failureWith(credential)).toMatchObject({ code: Code.Unauthenticated });
  });
});
