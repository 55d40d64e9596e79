import { until } from "../measure/figures.ts";
import { sharedNowMs } from "../measure/sample.ts";

/** The id of a write, in its message. The webhook event contains the message. */
const ID_IN_TEXT = /bid~([^~]+)~/;
const EVENT_ID = /^service-event-id: *(\S+)/im;
const POLL_MS = 5;

/** Returns a message that identifies its event. */
export const textWithId = (id: string) => `bid~${id}~ For the stream`;

/**
 * When each event first arrived, by its write's id or its event id. `again` counts repeats and events of other runs.
 */
export type Arrived = {
  readonly firstMs: Readonly<Record<string, number>>;
  readonly again: number;
};

/** Counts the events whose ids begin with a run's name. */
export class Arrivals {
  readonly #run: string;
  readonly #firstMs = new Map<string, number>();
  #again = 0;
  #lastMs = sharedNowMs();

  constructor(run = "") {
    this.#run = run;
  }

  /** Counts an event. Throws if it has no id. */
  add(request: string, nowMs: number): void {
    const id = (ID_IN_TEXT.exec(request) ?? EVENT_ID.exec(request))?.[1];
    if (id === undefined) throw new Error("a request came that is no event");
    this.#lastMs = nowMs;
    if (!id.startsWith(this.#run) || this.#firstMs.has(id)) this.#again += 1;
    else this.#firstMs.set(id, nowMs);
  }

  /** Resolves once `events` distinct events have arrived, or none for `quietMs`. */
  async quiet(events: number, quietMs: number): Promise<void> {
    const sinceMs = sharedNowMs();
    const isQuiet = () => sharedNowMs() - Math.max(sinceMs, this.#lastMs) >= quietMs;
    await until(() => this.#firstMs.size >= events || isQuiet(), POLL_MS);
  }

  tell(): Arrived {
    return { firstMs: Object.fromEntries(this.#firstMs), again: this.#again };
  }
}
