import { createHash } from "node:crypto";

/** The account with the long history; the accounts under load follow it. */
export const HISTORY_ACCOUNT_NO = 1;
export const FIRST_LOAD_ACCOUNT_NO = 2;

/** How many activities the long history has, and how many accounts under load have how many. */
export type DataSize = {
  readonly historyActivities: number;
  readonly loadAccounts: number;
  readonly activitiesPerLoadAccount: number;
};
/** Accounts that follow one another by their numbers. */
export type AccountRange = { readonly first: number; readonly count: number };

/** Of the accounts under load, the third whose pages are read; these never change. */
export function pagedAccounts(loadAccounts: number): AccountRange {
  return { first: FIRST_LOAD_ACCOUNT_NO, count: loadAccounts / 3 };
}

/** Of the accounts under load, those that poll. */
export function polledAccounts(loadAccounts: number): AccountRange {
  const { first, count } = pagedAccounts(loadAccounts);
  return { first: first + count, count: loadAccounts - count };
}

/** Returns the API key of an account of the bench. */
export function apiKeyOf(accountNo: number): string {
  return `act_live_${sha256(`bench account ${accountNo}`).toString("hex")}`;
}

/** Returns the client address that an account's requests come from: each its own. */
export function clientAddressOf(accountNo: number): string {
  return `10.${accountNo >> 16}.${(accountNo >> 8) & 255}.${accountNo & 255}`;
}

/** Hashes as the product hashes keys. */
export function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
