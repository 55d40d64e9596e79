/** How many attempts one worker makes at one endpoint at a time, of those that the claim does not count. */
const PLACES_PER_ENDPOINT = 16;
/** And at all endpoints together: half of what a worker has room for, so that first attempts find some. */
const PLACES_IN_ALL = 1_000;
/** What an attempt is taken to last before one has ended: as long as it may. */
const LONGEST_ATTEMPT_MS = 10_000;
const SHORTEST_WAIT_MS = 1_000;
/** Lines are looked through when there are so many, and again when twice as many are left. */
const LINES_KEPT = 512;
/** A line that is longer than this begins again at its front: who waits asks at least so often. */
const LONGEST_WAIT_MS = 60 * 60_000;

/** A place to make an attempt in, or when to ask for one again. */
export type PlaceAnswer =
  | { readonly kind: "taken"; readonly leave: () => void }
  | { readonly kind: "full"; readonly askAgainInMs: number };

/** The places of one worker, for repeated attempts and for first ones that could not be loaded before. */
export type AttemptPlaces = {
  take(endpointId: string): PlaceAnswer;
  /** How many endpoints it remembers: those with attempts under way or a line, and a few hundred others. */
  readonly endpointCount: () => number;
};

type Line = { underWay: number; lastTookMs: number; endsAtMs: number };

/**
 * Creates places that nobody has taken. Who finds an endpoint's places taken is given a moment of its own
 * behind the others who did, at the pace at which that endpoint ends attempts: thousands that are due at
 * once come back one by one, and hold no room of the worker meanwhile.
 */
export function createAttemptPlaces(nowMs: () => number): AttemptPlaces {
  const lines = new Map<string, Line>();
  let inAll = 0;
  let lookThroughAt = LINES_KEPT;

  return {
    endpointCount: () => lines.size,

    take(endpointId) {
      const line = lines.get(endpointId) ?? beginLine(endpointId);
      if (line.underWay >= PLACES_PER_ENDPOINT || inAll >= PLACES_IN_ALL) {
        return { kind: "full", askAgainInMs: waitAtEnd(line) };
      }
      const startedMs = nowMs();
      line.underWay += 1;
      inAll += 1;
      return {
        kind: "taken",
        leave() {
          line.lastTookMs = nowMs() - startedMs;
          line.underWay -= 1;
          inAll -= 1;
          // Nobody is there any more, so whoever comes from the line finds a place.
          if (line.underWay === 0) lines.delete(endpointId);
        },
      };
    },
  };

  function beginLine(endpointId: string): Line {
    if (lines.size >= lookThroughAt) dropEndedLines();
    const line: Line = { underWay: 0, lastTookMs: LONGEST_ATTEMPT_MS, endsAtMs: 0 };
    lines.set(endpointId, line);
    return line;
  }

  /** With all places taken, an endpoint gets a line without a place, and nobody leaves to end it. */
  function dropEndedLines(): void {
    const now = nowMs();
    for (const [endpointId, line] of lines) {
      if (line.underWay === 0 && line.endsAtMs <= now) lines.delete(endpointId);
    }
    lookThroughAt = Math.max(LINES_KEPT, 2 * lines.size);
  }

  function waitAtEnd(line: Line): number {
    const now = nowMs();
    line.endsAtMs = Math.max(line.endsAtMs, now) + line.lastTookMs / PLACES_PER_ENDPOINT;
    return Math.ceil(SHORTEST_WAIT_MS + ((line.endsAtMs - now) % LONGEST_WAIT_MS));
  }
}
