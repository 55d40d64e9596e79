import type { Activity } from "../contract.ts";
import { FeedError } from "../feed-error.ts";
import type { FilterOptions } from "../filters.ts";
import type { End, Position } from "../poller/poller.ts";
import type { Checkpoint, CheckpointState } from "./checkpoint.ts";

/**
 * How many processed records are remembered: those of the last five pages, of at most 100 each. More are remembered
 * only if they share the newest `recorded_at`, as rows of an import do. The stream may begin again at that time, and
 * must then skip all of them.
 */
const MAX_PROCESSED = 500;

/** A follower's position and processed records. Each change resolves once it is saved. */
export interface Progress {
  /** Undefined until the stream has begun. */
  position(): Position | undefined;
  /** Begins at the end of the feed if the stream has no position yet. */
  begin(end: End): Promise<void>;
  isProcessed(id: string): boolean;
  /** Notes one processed record, and the next cursor if the record was the last of its page. */
  note(activity: Activity | undefined, cursor: string | undefined): Promise<void>;
  /** Forgets the cursor. The stream continues at the last processed record, or at its start if there is none. */
  restart(): Promise<void>;
}

/**
 * Loads a follower's position. If the filters or `since` changed, the stream begins again without a cursor. It begins
 * at `since` if given, otherwise at the last processed record, otherwise at its earlier start. It then skips the
 * records that it has processed. §4.4.4
 */
export async function loadProgress(
  checkpoint: Checkpoint,
  { type, platform }: FilterOptions,
  since: string | undefined,
): Promise<Progress> {
  const saved = parseState(await checkpoint.load());
  const processed = new Set(saved?.processed);
  /** How many processed records share the newest `recorded_at`. After a load, any of them may. */
  let together = processed.size;
  const isSame =
    saved !== undefined &&
    saved.type === (type ?? null) &&
    saved.platform === (platform ?? null) &&
    (since === undefined || exact(saved.since ?? "") === exact(since));
  // A stream that begins at another `since` must not continue at the last record of the earlier stream.
  let recordedAt = isSame || since === undefined ? (saved?.recorded_at ?? undefined) : undefined;
  let beginning = isSame
    ? (saved.since ?? undefined)
    : (since ?? recordedAt ?? saved?.since ?? undefined);
  let position: Position | undefined = isSame
    ? { since: saved.from ?? undefined, cursor: saved.cursor ?? undefined }
    : saved === undefined && beginning === undefined
      ? undefined
      : { since: beginning, cursor: undefined };

  async function save(): Promise<void> {
    const state: CheckpointState = {
      version: 1,
      since: beginning ?? null,
      type: type ?? null,
      platform: platform ?? null,
      from: position?.since ?? null,
      cursor: position?.cursor ?? null,
      processed: [...processed],
      recorded_at: recordedAt ?? null,
    };
    await checkpoint.save(state);
  }
  return {
    position: () => position,
    async begin({ position: shared, start }) {
      if (position === undefined) beginning = start;
      position ??= shared;
      await save();
    },
    isProcessed: (id) => processed.has(id),
    async note(activity, cursor) {
      if (activity) {
        processed.add(activity.id);
        together = activity.recorded_at === recordedAt ? together + 1 : 1;
        recordedAt = activity.recorded_at;
      }
      for (const oldest of processed) {
        if (processed.size <= Math.max(MAX_PROCESSED, together)) break;
        processed.delete(oldest);
      }
      if (cursor !== undefined) position = { since: position?.since, cursor };
      await save();
    },
    async restart() {
      position = { since: recordedAt ?? beginning, cursor: undefined };
      await save();
    },
  };
}

/** Returns the same text for equal times, such as `…00Z` and `…00.000Z`. The service compares times in this way too. */
const exact = (time: string) => time.slice(0, 19) + Number(time.slice(19, -1));

function parseState(saved: unknown): CheckpointState | undefined {
  if (saved === undefined || saved === null) return undefined;
  if (typeof saved === "object" && "version" in saved && saved.version === 1) {
    const state = saved as Partial<CheckpointState>; // Each field is checked.
    const { since, from, type, platform, cursor, recorded_at: recordedAt } = state;
    const texts = [since, from, type, platform, cursor, recordedAt];
    const areTexts = texts.every((text) => text === null || typeof text === "string");
    if (areTexts && Array.isArray(state.processed)) return saved as CheckpointState;
  }
  throw new FeedError(
    "invalid_checkpoint",
    "What the checkpoint loaded is no state of a follower: load() must return what save() was " +
      "given, or undefined. Name another place, or delete the saved state to start again.",
  );
}
