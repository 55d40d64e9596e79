import { Platform } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";

const NAMES = [
  ...["Ana", "Björn", "夢子", "Max Power", "🐉 Dragon", "Zoë", "عمر"],
  ...["nightowl_77", "Ōtani", "Priya"],
];
const MESSAGES = [
  ...["Thanks for the stream!", "GG 🎉🎉", "Greetings from Łódź", "¡Sigue así!", undefined],
  ...["First time here, love it", 'She said "one more round"', undefined],
];
const CURRENCIES = ["eur", "eur", "usd", "gbp", "jpy"];
const DAY_MS = 86_400_000;
/** A fixed day, so that the demo always writes the same records. */
const FIRST_DAY_MS = Date.UTC(2026, 0, 15, 18, 30);

const DONATIONS = 90;
const EVENTS = 150;
const IMPORTED_PER_SOURCE = 30;

const pick = <Item>(items: readonly Item[], index: number) => items[index % items.length] as Item;

/** Returns the supporter's texts of a record, varied by its number. */
function supporter(index: number) {
  const message = pick(MESSAGES, index);
  return { donorName: pick(NAMES, index * 3), ...(message && { message }) };
}

function amount(index: number) {
  return { amountCents: BigInt(100 + ((index * 137) % 4900)), currency: pick(CURRENCIES, index) };
}

const donatedAt = (index: number) =>
  timestampFromMs(FIRST_DAY_MS + index * DAY_MS * 0.7 + index * 1_234);

/** Returns donations made through the service. */
export function demoDonations() {
  return Array.from({ length: DONATIONS }, (_, index) => ({
    externalId: `demo-donation-${index}`,
    ...supporter(index),
    ...amount(index),
    currency: "eur",
    donatedAt: donatedAt(index),
  }));
}

/** Returns one month of a supporter's subscription. */
export function demoContribution() {
  return {
    externalId: "demo-contribution",
    subscriptionExternalId: "demo-subscription",
    amountCents: 499n,
    currency: "eur",
    donorName: "Ana",
    contributedAt: donatedAt(0),
  };
}

/** Returns history from other tools. */
export function demoHistory() {
  const sources = [Platform.IMPORT_SOURCE_1, Platform.IMPORT_SOURCE_4, Platform.CSV];
  return sources.map((platform) => ({
    platform,
    rows: Array.from({ length: IMPORTED_PER_SOURCE }, (_, index) => ({
      externalId: `demo-import-${index}`,
      ...supporter(index + platform),
      ...amount(index * 2 + platform),
      donatedAt: timestampFromMs(FIRST_DAY_MS - (400 - index) * DAY_MS),
    })),
  }));
}

/** Returns events of every type from every live platform. */
export function demoPlatformEvents() {
  const live = [
    ...[Platform.LIVE_PLATFORM_1, Platform.LIVE_PLATFORM_2],
    ...[Platform.LIVE_PLATFORM_3, Platform.LIVE_PLATFORM_4],
  ];
  return Array.from({ length: EVENTS }, (_, index) => {
    const { donorName: actorName, ...text } = supporter(index);
    const at = { externalId: `demo-event-${index}`, platform: pick(live, index) };
    return { ...at, actorName, ...text, kind: kindOf(index) };
  });
}

function kindOf(index: number) {
  const count = BigInt(1 + ((index * 31) % 500));
  const kinds = [
    { case: "follow", value: {} },
    { case: "subscription", value: { months: (count % 36n) + 1n } },
    { case: "cheer", value: { amount: count } },
    { case: "giftsub", value: { subscriptions: (count % 20n) + 1n } },
    { case: "raid", value: { viewers: count * 3n } },
    { case: "paidChatMessage", value: { amountCents: count * 10n, currency: "eur" } },
    { case: "follow", value: {} },
  ] as const;
  return pick(kinds, index);
}
