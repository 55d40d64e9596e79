import { createHash } from "node:crypto";

export const FIRST_ACCOUNT_NO = 1;

/** The number of accounts and of their activities. */
export type DataSize = { readonly accounts: number; readonly activitiesPerAccount: number };
/** Accounts with consecutive numbers. */
export type AccountRange = { readonly first: number; readonly count: number };

/** Returns the first third of the accounts. Their pages are read, and never change. */
export function pagedAccounts(accounts: number): AccountRange {
  return { first: FIRST_ACCOUNT_NO, count: accounts / 3 };
}

/** Returns the other accounts. Their feeds are polled, and get new records. */
export function polledAccounts(accounts: number): AccountRange {
  const { first, count } = pagedAccounts(accounts);
  return { first: first + count, count: accounts - count };
}

/** Returns the API key of a bench account. */
export function apiKeyOf(accountNo: number): string {
  return `act_live_${sha256(`bench account ${accountNo}`).toString("hex")}`;
}

/** Returns the client address of an account's requests. Each account has its own. */
export function clientAddressOf(accountNo: number): string {
  return `10.${accountNo >> 16}.${(accountNo >> 8) & 255}.${accountNo & 255}`;
}

/** Hashes a text as the product hashes API keys. */
export function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
