import { hash } from "node:crypto";

type Meaning = readonly (string | number | undefined)[];

/** Makes external ids for donations that have none in the file. */
export type DerivedIds = {
  /**
   * Returns the id of a donation with this `meaning`, the same in every import of the same rows. Rows with the same
   * meaning are counted, so that their ids differ.
   */
  next(meaning: Meaning): string;
};

const ID_DIGITS = 32;
/** 13 hexadecimal digits are 52 bits, which a number holds exactly. */
const FINGERPRINT_DIGITS = 13;

/** Creates ids for one file. */
export function createDerivedIds(): DerivedIds {
  const seen = createFingerprintCounts();
  return {
    next(meaning) {
      const digest = hash("sha256", JSON.stringify(meaning), "hex");
      const count = seen.count(Number.parseInt(digest.slice(0, FINGERPRINT_DIGITS), 16) + 1);
      return `row-${digest.slice(0, ID_DIGITS)}-${count}`;
    },
  };
}

/**
 * Counts fingerprints, which are positive whole numbers, in typed arrays. They take 24 to 48 bytes for each row without
 * an id. A Map of texts would take hundreds. Different rows with one fingerprint share a counter, but their digests,
 * and so their ids, differ.
 */
function createFingerprintCounts() {
  let size = 1 << 12;
  let fingerprints = new Float64Array(size);
  let counts = new Uint32Array(size);
  let used = 0;

  function placeOf(fingerprint: number): number {
    let place = fingerprint % size;
    while (fingerprints[place] !== 0 && fingerprints[place] !== fingerprint) {
      place = (place + 1) % size;
    }
    return place;
  }

  function grow(): void {
    const [oldFingerprints, oldCounts] = [fingerprints, counts];
    size *= 2;
    fingerprints = new Float64Array(size);
    counts = new Uint32Array(size);
    for (const [from, fingerprint] of oldFingerprints.entries()) {
      if (fingerprint === 0) continue;
      const to = placeOf(fingerprint);
      fingerprints[to] = fingerprint;
      counts[to] = oldCounts[from] ?? 0;
    }
  }

  return {
    /** Counts a fingerprint once more and returns how often it was counted. */
    count(fingerprint: number): number {
      if (used * 2 >= size) grow();
      const place = placeOf(fingerprint);
      if (fingerprints[place] === 0) used += 1;
      fingerprints[place] = fingerprint;
      const count = (counts[place] ?? 0) + 1;
      counts[place] = count;
      return count;
    },
  };
}
