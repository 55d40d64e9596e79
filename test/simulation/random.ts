/** Numbers that look drawn, and are the same for the same seed. */
export type Random = {
  /** From 0 to 1. */
  next(): number;
  /** A whole number below another. */
  below(limit: number): number;
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
};

/** Returns streams of a seed by name. What one stream draws moves no other, so a smaller scenario stays alike. */
export function createStreams(seed: number): (name: string) => Random {
  const streams = new Map<string, Random>();
  return (name) => {
    const known = streams.get(name);
    if (known !== undefined) return known;
    const made = createRandom(hashOf(`${seed} ${name}`));
    streams.set(name, made);
    return made;
  };
}

/** Creates one stream. The generator is mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  return {
    next,
    below: (limit) => Math.floor(next() * limit),
    between: (least, most) => least + next() * (most - least),
    chance: (probability) => next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)] ?? items[0],
  };
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let place = 0; place < text.length; place++) {
    hash = Math.imul(hash ^ text.charCodeAt(place), 0x01000193);
  }
  return hash >>> 0;
}
