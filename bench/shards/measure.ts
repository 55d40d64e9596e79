import { WebhookEventKind } from "@activity/proto";
import { createClients } from "../../dev-stack/src/demo.ts";
import type { Progress } from "../../dev-stack/src/progress.ts";
import type { Receiver } from "../deliver/receiver.ts";
import { type ContributionLoad, startContributionLoad } from "../load/start-contributions.ts";
import type { Closing } from "../stack/closing.ts";
import { makeAccounts, makeTargets, type Target } from "../stack/targets.ts";
import { measureDeliveries } from "./cases/deliveries.ts";
import { CaseName, type CaseRun, type MeasuredSide } from "./cases/measure-case.ts";
import { measureReads, type ReadLoad, startReadLoad } from "./cases/reads.ts";
import { measureWrites } from "./cases/writes.ts";
import type { Settings } from "./settings.ts";

/** One round: what each side did, by its label. */
export type Round = Readonly<Record<string, Readonly<Record<CaseName, CaseRun>>>>;

type Loads = {
  readonly reads: ReadLoad;
  readonly writes: ContributionLoad;
  readonly receiver: Receiver;
  readonly dataUrl: string;
};
type Written = { readonly accountIds: readonly string[]; readonly targets: readonly Target[] };

const TARGETS_OF = 10;
const WARM_UP_SHARE = 10;

/** Warms every side up, then gives each its turn, so that whatever else the machine does falls on all of them. */
export async function measureSides(
  sides: readonly MeasuredSide[],
  receiver: Receiver,
  settings: Settings,
  closing: Closing,
  progress: Progress,
): Promise<Round[]> {
  const [reads, writes] = [startReadLoad(), startContributionLoad()];
  closing.add(reads.stop);
  closing.add(writes.stop);
  const loads = { reads, writes, receiver, dataUrl: sides[0]?.store.url ?? "" };
  const written = new Map<MeasuredSide, Written>();
  const { warmUpSeconds, seconds, backlog } = settings;
  for (const side of sides) {
    await progress.step(`Warming up: ${side.store.label}`, async () => {
      written.set(side, await prepare(side, receiver, settings));
      const share = { seconds: warmUpSeconds, backlog: Math.ceil(backlog / WARM_UP_SHARE) };
      await measureSide(side, loads, written.get(side), settings, share);
    });
  }
  const rounds: Round[] = [];
  for (let round = 1; round <= settings.rounds; round++) {
    const results: Record<string, Round[string]> = {};
    for (const side of sides) {
      const { label } = side.store;
      const measure = () =>
        measureSide(side, loads, written.get(side), settings, { seconds, backlog });
      const step = `Round ${round} of ${settings.rounds}: ${label}`;
      results[label] = await progress.step(step, measure);
    }
    rounds.push(results);
  }
  return rounds;
}

/** Makes the accounts that are written to, and those that are told. */
async function prepare(
  side: MeasuredSide,
  receiver: Receiver,
  { accounts }: Settings,
): Promise<Written> {
  const { corePort } = await side.run(false);
  const clients = createClients(`http://127.0.0.1:${corePort}`, side.credential);
  const names = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}_${index}`);
  const told = names("told", Math.ceil(accounts / TARGETS_OF));
  const kind = WebhookEventKind.DONATION_CREATED;
  return {
    accountIds: await makeAccounts(clients, names("written", accounts)),
    targets: await makeTargets(clients, receiver.target, told, kind),
  };
}

async function measureSide(
  side: MeasuredSide,
  { reads, writes, receiver, dataUrl }: Loads,
  { accountIds, targets }: Written = { accountIds: [], targets: [] },
  settings: Settings,
  { seconds, backlog }: { readonly seconds: number; readonly backlog: number },
): Promise<Round[string]> {
  return {
    [CaseName.Reads]: await measureReads(side, reads, settings, { dataUrl, seconds }),
    [CaseName.Writes]: await measureWrites(side, writes, { accountIds, seconds }),
    [CaseName.Deliveries]: await measureDeliveries(side, receiver, targets, backlog),
  };
}
