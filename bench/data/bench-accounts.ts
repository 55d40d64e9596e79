import { createHash } from "node:crypto";

/** The account with the long history; the accounts under load follow it. */
export const HISTORY_ACCOUNT_NO = 1;
export const FIRST_LOAD_ACCOUNT_NO = 2;

/** How many accounts and activities a run reads. */
export type DataSize = {
  readonly name: "full" | "short";
  /** Of the account with the long history. */
  readonly historyActivities: number;
  readonly loadAccounts: number;
  readonly activitiesPerLoadAccount: number;
};

export const FULL_DATA: DataSize = {
  ...{ name: "full", historyActivities: 700_000 },
  ...{ loadAccounts: 3_000, activitiesPerLoadAccount: 210 },
};
/** Enough to see that the benchmark runs, and enough accounts that the limits refuse nobody. */
export const SHORT_DATA: DataSize = {
  ...{ name: "short", historyActivities: 14_000 },
  ...{ loadAccounts: 3_000, activitiesPerLoadAccount: 70 },
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

/** Returns the API key of an account of the bench: always the same, for the data is kept between runs. */
export function apiKeyOf(accountNo: number): string {
  return `act_live_${sha256(`bench account ${accountNo}`)}`;
}

/** Returns the client address that an account's requests come from: each its own. */
export function clientAddressOf(accountNo: number): string {
  return `10.${accountNo >> 16}.${(accountNo >> 8) & 255}.${accountNo & 255}`;
}

/** The service credential of the gateway that runs apart from its core. */
export const GATEWAY_CREDENTIAL = `act_svc_${sha256("bench gateway")}`;

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
