// A user's program. It is compiled against the packed package as ES module and as CommonJS.
import {
  type Activity,
  type Checkpoint,
  FeedError,
  type FeedErrorCode,
  file,
  follow,
  list,
  me,
  memory,
} from "@activity/feed";

function describe(activity: Activity): string {
  switch (activity.type) {
    case "donation": {
      const currency: string = activity.currency;
      return `${activity.value} ${currency}, of which ${activity.refunded_amount_cents ?? 0} refunded`;
    }
    case "cheer":
      return activity.unit === "diamonds" ? "diamonds" : `${activity.value} bits`;
    case "follow": {
      const value: 0 = activity.value;
      return `${activity.actor.name ?? "Someone"} ${value}`;
    }
    default: {
      // @ts-expect-error: only donations have a currency.
      const currency: string = activity.currency;
      return `${activity.value} ${activity.unit} ${currency}`;
    }
  }
}

const own: Checkpoint = { load: async () => JSON.parse("null"), save: async (state) => void state };

export async function run(checkpoint = file("overlay.cursor")): Promise<FeedErrorCode | "ended"> {
  const stopped = new AbortController();
  const feed = follow({
    apiKey: process.env.ACTIVITY_KEY,
    checkpoint,
    type: "donation",
    signal: stopped.signal,
    onWait: (reason, ms) => console.log(reason === "rate_limit_exceeded", ms * 2),
    onKeyEnding: (days) => console.log(days * 2),
    fetch,
  });
  feed.wake();
  try {
    for await (const activity of feed) console.log(describe(activity));
    for await (const { id } of list({ apiKey: "", since: new Date() })) console.log(id);
    const { key } = await me({ apiKey: undefined });
    console.log(key.expires_at, memory(), own);
    return "ended";
  } catch (error) {
    if (error instanceof FeedError) return error.code;
    throw error;
  }
}

// @ts-expect-error: there is no such type.
follow({ apiKey: "", type: "tip" });
// @ts-expect-error: the key is required.
follow({});
