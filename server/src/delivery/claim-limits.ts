/**
 * How many first attempts may be under way at one endpoint: as many as a receiver that answers can be given
 * at once by one workflow, and no more than one that hangs is to hold of sockets and of the worker's room.
 */
export const UNDER_WAY_PER_ENDPOINT = 64;

/**
 * What must be free before a busy endpoint is given more. What hangs ends piece by piece, and deliveries
 * that begin together cost a fraction of what each would alone.
 */
export const WORTH_CLAIMING = 32;
const WORTH_CLAIMING_AMONG_MANY = 4;

/**
 * How many first attempts under way at all endpoints together are many: one that hangs holds a socket and
 * 85 KB of its worker (measured). An endpoint is given no more than `UNDER_WAY_AMONG_MANY` then, which leaves
 * room for those that have none, however many others hang.
 */
export const MANY_UNDER_WAY = 4_096;
export const UNDER_WAY_AMONG_MANY = 8;

/**
 * How long after it was handed over a first attempt counts as under way, unless its outcome comes before:
 * its ten seconds and some for what is slow around it. What dies with a worker is not counted for long.
 */
export const UNDER_WAY_MICROS = 15_000_000;

/** How many may be under way at an endpoint, and how many must be free for it to be given more. */
export type EndpointLimit = { readonly most: number; readonly worthClaiming: number };

/** Returns the limit of each endpoint while so many are under way at all of them. */
export function endpointLimit(underWayInAll: number): EndpointLimit {
  return underWayInAll < MANY_UNDER_WAY
    ? { most: UNDER_WAY_PER_ENDPOINT, worthClaiming: WORTH_CLAIMING }
    : { most: UNDER_WAY_AMONG_MANY, worthClaiming: WORTH_CLAIMING_AMONG_MANY };
}
