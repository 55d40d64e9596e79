export type Random = ReturnType<typeof createRandom>;

export type Streams = (name: string) => Random;

/**
 * Creates the streams of a seed. A draw from one stream changes no other, so a smaller scenario resembles the whole
 * one.
 */
export function createStreams(seed: number): Streams {
  const streams = new Map<string, Random>();
  return (name) => {
    const stream = streams.get(name) ?? createRandom(hashOf(`${seed} ${name}`));
    streams.set(name, stream);
    return stream;
  };
}

/** Creates a stream of pseudorandom numbers, by mulberry32. The same seed gives the same numbers. */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  return {
    /** A number of at least 0 and below 1. */
    next,
    /** An integer from 0 to `limit - 1`. */
    below: (limit: number) => Math.floor(next() * limit),
    between: (least: number, most: number) => least + next() * (most - least),
    chance: (probability: number) => next() < probability,
    /** One item of a list, which is not empty. */
    pick: <Item>(items: readonly Item[]) => items[Math.floor(next() * items.length)] as Item,
  };
}

/** Returns the FNV-1a hash of a text. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let place = 0; place < text.length; place++) {
    hash = Math.imul(hash ^ text.charCodeAt(place), 0x01000193);
  }
  return hash >>> 0;
}
