import { ID_IN_TEXT } from "../../load/contribution-request.ts";
import { sharedNowMs } from "../../measure/shared-clock.ts";
import { until } from "../../measure/until.ts";

/** What has come of a run. */
export type Arrived = {
  /** When the event of each write came for the first time, on the shared clock; `null`: not yet. */
  readonly firstMs: readonly (number | null)[];
  /** What came beyond once: events of this run that came again, and those of another run. */
  readonly again: number;
};

const POLL_MS = 5;

/** Counts the events of one run by the ids that their writer gave them. */
export class Arrivals {
  readonly #run: string;
  readonly #firstMs: (number | null)[] = [];
  #events = 0;
  #again = 0;
  #lastMs = sharedNowMs();

  constructor(run: string) {
    this.#run = run;
  }

  /** Counts an event that has come now; throws when it carries no id. */
  add(payload: string, nowMs: number): void {
    const [, run, digits] = ID_IN_TEXT.exec(payload) ?? [];
    if (run === undefined) throw new Error("an event came that nobody of the bench wrote");
    this.#lastMs = nowMs;
    const turn = Number(digits);
    if (run !== this.#run || typeof this.#firstMs[turn] === "number") {
      this.#again += 1;
      return;
    }
    while (this.#firstMs.length < turn) this.#firstMs.push(null);
    this.#firstMs[turn] = nowMs;
    this.#events += 1;
  }

  /** Resolves when `events` different ones have come, or none for `quietMs`. */
  async quiet(events: number, quietMs: number): Promise<void> {
    const sinceMs = sharedNowMs();
    const isQuiet = () => sharedNowMs() - Math.max(sinceMs, this.#lastMs) >= quietMs;
    await until(() => this.#events >= events || isQuiet(), POLL_MS);
  }

  tell(): Arrived {
    return { firstMs: this.#firstMs, again: this.#again };
  }
}
