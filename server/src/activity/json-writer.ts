import { type Micros, timestampFromMicros } from "../common/timestamps.ts";

/** The bytes of the characters that the writer writes or compares. */
const SPACE = 0x20;
const QUOTE = 0x22;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const Z = 0x5a;
const BACKSLASH = 0x5c;

const SECONDS_PER_DAY = 86_400;
/** The first day of year 0001 and the last of year 9999, counted from 1970-01-01. */
const FIRST_DAY = -719_162;
const LAST_DAY = 2_932_896;

/** The initial size of the buffer, which grows. Most pages need less. */
const FIRST_BYTES = 65_536;

/** Writes JSON in UTF-8 into a buffer. Only `reserve` and `text` enlarge it, so call `reserve` before the others. */
export class JsonWriter {
  #out = Buffer.allocUnsafe(FIRST_BYTES);
  #at = 0;
  #day = Number.NaN;
  #date = Buffer.alloc(0);

  /** Begins a new text in the same buffer. Drops the earlier text, which may be incomplete after a failure. */
  begin(): void {
    this.#at = 0;
  }

  /** Makes the buffer large enough for `bytes` more bytes. */
  reserve(bytes: number): void {
    if (this.#at + bytes <= this.#out.length) return;
    const larger = Buffer.allocUnsafe(2 * this.#out.length + bytes);
    this.#out.copy(larger, 0, 0, this.#at);
    this.#out = larger;
  }

  byte(value: number): void {
    this.#out[this.#at++] = value;
  }

  /** Writes a prepared part. */
  bytes(part: Buffer): void {
    this.#out.set(part, this.#at);
    this.#at += part.length;
  }

  /** Copies bytes. For a few bytes, this is faster than `bytes` with a view of them. */
  copy(from: Buffer, start: number, end: number): void {
    for (let place = start; place < end; place++) this.#out[this.#at++] = from[place] ?? 0;
  }

  text(text: string): void {
    this.reserve(3 * text.length);
    this.#at += this.#out.write(text, this.#at);
  }

  /** Writes UTF-8 text as a JSON string in quotes. An escaped byte takes up to six bytes. */
  quoted(from: Buffer, start: number, end: number): void {
    const out = this.#out;
    let at = this.#at;
    out[at++] = QUOTE;
    for (let place = start; place < end; place++) {
      const byte = from[place] ?? 0;
      if (byte < SPACE || byte === QUOTE || byte === BACKSLASH) {
        this.text(JSON.stringify(from.toString("utf8", start, end)));
        return;
      }
      out[at++] = byte;
    }
    out[at++] = QUOTE;
    this.#at = at;
  }

  /** Writes the BIGINT at `at`. */
  bigint(row: Buffer, at: number): void {
    if (row.readInt32LE(at + 4) !== 0) {
      this.#latin1(String(row.readBigInt64LE(at)));
      return;
    }
    const value = row.readUInt32LE(at);
    let count = 1;
    for (let bound = 10; value >= bound; bound *= 10) count++;
    this.#digits(value, count);
  }

  /**
   * Writes a time of the years 0001 to 9999 in UTC with six fractional digits and `Z`. Throws RangeError for others.
   */
  time(micros: Micros): void {
    if (typeof micros === "number") {
      const second = Math.floor(micros / 1e6);
      this.#time(second, micros - second * 1e6);
    } else {
      const { seconds, nanos } = timestampFromMicros(micros);
      this.#time(Number(seconds), nanos / 1000);
    }
  }

  #time(second: number, micros: number): void {
    const day = Math.floor(second / SECONDS_PER_DAY);
    if (day !== this.#day) {
      if (day < FIRST_DAY || day > LAST_DAY) throw new RangeError("a time outside years 1 to 9999");
      const time = new Date(day * SECONDS_PER_DAY * 1000).toISOString();
      this.#date = Buffer.from(time.slice(0, "2026-03-01T".length));
      this.#day = day;
    }
    this.copy(this.#date, 0, this.#date.length);
    const ofDay = second - day * SECONDS_PER_DAY;
    this.#digits(Math.floor(ofDay / 3600), 2);
    this.byte(COLON);
    this.#digits(Math.floor(ofDay / 60) % 60, 2);
    this.byte(COLON);
    this.#digits(ofDay % 60, 2);
    this.byte(POINT);
    this.#digits(micros, 6);
    this.byte(Z);
  }

  #latin1(text: string): void {
    this.#at += this.#out.write(text, this.#at, "latin1");
  }

  #digits(value: number, count: number): void {
    let rest = value;
    for (let place = this.#at + count - 1; place >= this.#at; place--) {
      const tens = Math.floor(rest / 10);
      this.#out[place] = ZERO + rest - tens * 10;
      rest = tens;
    }
    this.#at += count;
  }

  /** Returns a copy of what was written. */
  end(): Buffer {
    return Buffer.from(this.#out.subarray(0, this.#at));
  }
}
