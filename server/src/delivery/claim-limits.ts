/**
 * How many first attempts may be under way at one endpoint: enough for the whole speed of this product at
 * a receiver that answers, and what one that hangs is to hold of sockets and of the worker's room.
 */
export const UNDER_WAY_PER_ENDPOINT = 64;

/**
 * What must be free before a busy endpoint is given more. What hangs ends piece by piece, and deliveries
 * that begin together cost a fraction of what each would alone.
 */
export const WORTH_CLAIMING = 16;

/**
 * How long after it was handed over a first attempt counts as under way, unless its outcome comes before:
 * its ten seconds and some for what is slow around it. What dies with a worker is not counted for long.
 */
export const UNDER_WAY_MICROS = 15_000_000;
