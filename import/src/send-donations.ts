import type {
  ImportDonationsRequestSchema,
  ImportDonationsResponse,
  Platform,
} from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Batch } from "./batches.ts";
import { type CoreClient, explainCallError } from "./core-client.ts";
import type { Donation } from "./donation-row.ts";
import { ImportError } from "./import-error.ts";
import { createWindow } from "./window.ts";

/** The target of the donations. */
export type Opening = { readonly accountId: string; readonly platform: Platform };

type RequestInit = MessageInitShape<typeof ImportDonationsRequestSchema>;

/** The maximum number of batches without an answer: enough that the core never waits. */
const MAX_UNANSWERED = 4;

/**
 * Sends batches to the core as fast as it answers. Calls `take` with each answer and its batch, in order. A batch
 * counts as unanswered until its `take` is done. Throws an ImportError if the call fails.
 */
export async function sendDonations(
  core: CoreClient,
  opening: Opening,
  batches: AsyncIterable<Batch>,
  take: (answer: ImportDonationsResponse, batch: Batch) => Promise<void>,
): Promise<void> {
  const unanswered: Batch[] = [];
  const window = createWindow(MAX_UNANSWERED);
  const ended = new AbortController();

  async function* requests(): AsyncGenerator<RequestInit, void> {
    yield { step: { case: "opening", value: opening } };
    for await (const batch of batches) {
      if (!(await window.enter())) return;
      unanswered.push(batch);
      yield { step: { case: "rows", value: { rows: batch.donations.map(rowFromDonation) } } };
    }
  }

  try {
    const { signal } = ended;
    for await (const answer of core.imports.importDonations(requests(), { signal })) {
      const batch = unanswered.shift();
      if (batch === undefined) throw new ImportError("The core answered more than it was sent.");
      await take(answer, batch);
      window.leave();
    }
  } catch (error) {
    throw explainCallError(error, core.coreUrl);
  } finally {
    window.close();
    // Ends the call, because leaving the loop does not. If `take` failed, the call would keep the process alive until
    // the core closes it.
    ended.abort();
  }
  if (unanswered.length > 0) {
    throw new ImportError("The core ended the import before it had answered everything.");
  }
}

function rowFromDonation({ donorName, message, donatedAt, ...donation }: Donation) {
  return {
    ...donation,
    ...(donorName !== undefined && { donorName }),
    ...(message !== undefined && { message }),
    donatedAt: { seconds: BigInt(donatedAt.seconds), nanos: donatedAt.micros * 1000 },
  };
}
