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

/**
 * How long after it was handed over a first attempt counts as under way, unless its outcome comes before:
 * its ten seconds and some for what is slow around it. What dies with a worker is not counted for long.
 */
export const UNDER_WAY_MICROS = 15_000_000;
