import type { Progress } from "../../dev-stack/src/progress.ts";
import { type DataSize, HISTORY_ACCOUNT_NO, shownOf } from "../data/bench-accounts.ts";
import { HttpConnection } from "../load/http-connection.ts";
import { pageRequest } from "../load/page-request.ts";
import { quantile } from "../measure/sample.ts";
import { type FreshWindow, openFreshWindow } from "./fresh-window.ts";
import { Order, PAGE, walkHistory } from "./walk.ts";

/** How long the first, a middle and the last page of the long history take, one request at a time. */
export type PageLatency = {
  readonly order: Order;
  readonly firstMs: number;
  readonly middleMs: number;
  readonly lastMs: number;
  /** Reading all of it in pages of 100. */
  readonly walk: { readonly activities: number; readonly seconds: number };
};

type Place = { readonly request: Buffer; readonly milliseconds: number[] };

/** Measures the places of a history in turn, in both orders, on the product at `port`. */
export async function measurePageLatency(
  options: {
    readonly port: number;
    readonly databaseUrl: string;
    readonly size: DataSize;
    readonly samples: number;
  },
  progress: Progress,
): Promise<PageLatency[]> {
  const { freshWindow, close } = await openFreshWindow(options.databaseUrl);
  try {
    const results: PageLatency[] = [];
    for (const order of Object.values(Order)) {
      const label = `Reading ${options.size.historyRecords.toLocaleString("en")} records, ${order}`;
      results.push(await progress.step(label, () => measureOrder(options, order, freshWindow)));
    }
    return results;
  } finally {
    await close();
  }
}

async function measureOrder(
  { port, size, samples }: { port: number; size: DataSize; samples: number },
  order: Order,
  freshWindow: FreshWindow,
): Promise<PageLatency> {
  const walk = await walkHistory(port, order, shownOf(size.historyRecords), freshWindow);
  const placeOf = (cursor: string): Place => {
    const query = `?order=${order}&limit=${PAGE}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
    return { request: pageRequest(HISTORY_ACCOUNT_NO, query), milliseconds: [] };
  };
  const first = placeOf("");
  const middle = placeOf(walk.middle);
  const last = placeOf(walk.last);
  const connection = new HttpConnection(port);
  for (let sample = 0; sample < samples; sample++) {
    for (const place of [first, middle, last]) {
      await freshWindow();
      const startedAt = performance.now();
      const { status } = await connection.send(place.request);
      place.milliseconds.push(performance.now() - startedAt);
      if (status !== 200) throw new Error(`a page was answered with ${status}`);
    }
  }
  connection.close();
  const { activities, seconds } = walk;
  const middleOf = (place: Place) =>
    quantile(
      place.milliseconds.toSorted((a, b) => a - b),
      0.5,
    );
  return {
    order,
    firstMs: middleOf(first),
    middleMs: middleOf(middle),
    lastMs: middleOf(last),
    walk: { activities, seconds },
  };
}
