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
  const counts = createFingerprintTable();
  return {
    next(meaning) {
      const digest = digestOf(meaning);
      const fingerprint = fingerprintOf(digest);
      // Different rows with one fingerprint share a counter, so their ids differ too.
      const count = counts.get(fingerprint) + 1;
      counts.set(fingerprint, count);
      return `row-${digest.slice(0, ID_DIGITS)}-${count}`;
    },
  };
}

function digestOf(meaning: Meaning): string {
  return hash("sha256", JSON.stringify(meaning), "hex");
}

function fingerprintOf(digest: string): number {
  return Number.parseInt(digest.slice(0, FINGERPRINT_DIGITS), 16) + 1;
}

/**
 * Keeps a number for each fingerprint, which is a positive whole number, in typed arrays. They take 24 to 48 bytes for
 * each row. A Map of texts would take hundreds.
 */
function createFingerprintTable() {
  let size = 1 << 12;
  let fingerprints = new Float64Array(size);
  let values = new Uint32Array(size);
  let used = 0;

  function placeOf(fingerprint: number): number {
    let place = fingerprint % size;
    while (fingerprints[place] !== 0 && fingerprints[place] !== fingerprint) {
      place = (place + 1) % size;
    }
    return place;
  }

  function grow(): void {
    const [oldFingerprints, oldValues] = [fingerprints, values];
    size *= 2;
    fingerprints = new Float64Array(size);
    values = new Uint32Array(size);
    for (const [from, fingerprint] of oldFingerprints.entries()) {
      if (fingerprint === 0) continue;
      const to = placeOf(fingerprint);
      fingerprints[to] = fingerprint;
      values[to] = oldValues[from] ?? 0;
    }
  }

  return {
    /** Returns the number of a fingerprint, 0 if it has none. */
    get(fingerprint: number): number {
      return values[placeOf(fingerprint)] ?? 0;
    },
    set(fingerprint: number, value: number): void {
      if (used * 2 >= size) grow();
      const place = placeOf(fingerprint);
      if (fingerprints[place] === 0) used += 1;
      fingerprints[place] = fingerprint;
      values[place] = value;
    },
  };
}
