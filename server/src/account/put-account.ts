import { DomainError, ErrorCode } from "../common/errors.ts";
import { accountNoOf, createIdsAt } from "../common/ids.ts";
import { statementsOf } from "../database/change.ts";
import { isDuplicate } from "../database/outage.ts";
import type { Packets } from "../database/packet.ts";
import { nowFromRows, READ_NOW } from "../write/locked-account-store.ts";
import {
  type AccountRecord,
  type AccountRow,
  accountFromRow,
  findAccountByUsername,
  lockAccountByExternalId,
  type Profile,
  storeAccount,
  updateProfile,
} from "./account-store.ts";

/** Maximum retries of `putAccount`, if other calls store the same external id or username at the same moment. */
const RETRIES = 5;

/** Stores a profile under its external id, and returns its account. Fails with `username_taken`. */
export async function putAccount(packets: Packets, profile: Profile): Promise<AccountRecord> {
  for (let attempt = 0; ; attempt++) {
    try {
      const account = await putOnce(packets, profile);
      if (account !== undefined) return account;
      throw new DomainError(
        ErrorCode.UsernameTaken,
        "Another account has this username, ignoring case. Choose another.",
      );
    } catch (error) {
      if (!isDuplicate(error) || attempt === RETRIES) throw error;
    }
  }
}

function putOnce(packets: Packets, profile: Profile): Promise<AccountRecord | undefined> {
  const load = [
    lockAccountByExternalId(profile.externalId),
    findAccountByUsername(profile.username),
    READ_NOW,
  ];
  return packets.loadAndStore(load, ([own, named, now]) => {
    const [found] = ((own ?? []) as AccountRow[]).map(accountFromRow);
    const [holder] = ((named ?? []) as AccountRow[]).map(accountFromRow);
    // On Vitess, another call can store the account between the two lookups. Then only `holder` is the account.
    const stored = found ?? (holder?.externalId.equals(profile.externalId) ? holder : undefined);
    if (holder !== undefined && holder.id !== stored?.id) {
      return { statements: [], result: undefined };
    }
    if (stored !== undefined) {
      const changed = { ...stored, ...profile };
      return { statements: [updateProfile(changed)], result: changed };
    }
    const created = newAccount(profile, nowFromRows(now));
    return { statements: statementsOf([storeAccount(created)]), result: created };
  });
}

function newAccount(profile: Profile, nowMicros: number): AccountRecord {
  const id = createIdsAt(nowMicros)();
  return { ...profile, id, accountNo: accountNoOf(id) ?? 0, verified: false, blocked: false };
}
