import type { Answer } from "./http-connection.ts";

/** What the load asks for. */
export const Workload = {
  /** Each account polls the end of its feed; one record comes for a hundred polls. */
  Polls: "polls",
  /** The first page of each account, over and over. */
  FirstPages: "first-pages",
  /** Pages of which none is asked for twice. */
  ColdPages: "cold-pages",
} as const;
export type Workload = (typeof Workload)[keyof typeof Workload];

/** A request, and what looks at its answer: it throws when that is not what it should be. */
export type Exchange = {
  readonly request: Buffer;
  take(answer: Answer): void | Promise<void>;
};

/** What a side is asked for in one workload. */
export type Requests = {
  /** Makes the first request of a turn one like all others. */
  readonly beforeTurn: () => Promise<void>;
  readonly next: () => Exchange;
};

/** The part of the contract's page that is looked at. */
export type Page = {
  readonly data: readonly { readonly id: string; readonly recorded_at: string }[];
  readonly pagination: { readonly has_more: boolean; readonly next_cursor: string };
};

export const PAGE_SIZE = 50;

/** Reads an answer's page; throws when there is none. */
export function pageOf({ status, body }: Answer): Page {
  if (status !== 200) throw new Error(`a page was answered with ${status}: ${body.toString()}`);
  return JSON.parse(body.toString());
}
