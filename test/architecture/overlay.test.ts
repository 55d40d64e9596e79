import { runInNewContext } from "node:vm";
import { PLATFORMS } from "@activity/proto";
import { OTHER_DECIMALS } from "@activity/proto/currency-decimals";
import { expect, it } from "vitest";
import { ACTIVITY_TYPES } from "../../feed/src/contract.ts";
import { isImportPlatform } from "../../server/src/activity/activity-values.ts";
import { namesIn, readText } from "./import-rule.ts";

// The overlay is one file without imports, so it repeats words and decimals of other files.
const html = readText("feed/src/hub/overlay.html");
/** The start of the page's script. It runs here because it does not use `document`. */
const [start = ""] = namesIn(html, /<script>(.*?)const alert =/gs);
const overlay: {
  readonly KINDS: object;
  readonly DECIMALS: Readonly<Record<string, string>>;
  readonly isImported: (activity: { platform: string }) => boolean;
} = runInNewContext(`${start}; ({ KINDS, DECIMALS, isImported });`, {
  ...{ URLSearchParams, location: { search: "" } },
});

it("the overlay has words, an icon and colours for each type of activity", () => {
  expect(Object.keys(overlay.KINDS)).toEqual(ACTIVITY_TYPES);
  expect(namesIn(html, /<symbol id="(\w+)"/g)).toEqual(ACTIVITY_TYPES);
  expect(namesIn(html, /\[data-type="(\w+)"\]/g)).toEqual(ACTIVITY_TYPES);
});

it("the overlay shows amounts with the decimals of every other part", () => {
  const decimals = Object.entries(overlay.DECIMALS).flatMap(([digits, currencies]) =>
    currencies.split(" ").map((currency) => [currency, Number(digits)] as const),
  );
  expect(new Map(decimals)).toEqual(OTHER_DECIMALS);
});

it("the overlay knows which platforms are imported, so that it shows no old donation as news", () => {
  const platforms = Object.entries(PLATFORMS).filter(([, word]) => word !== undefined);
  const known = platforms.map(([, platform = ""]) => [platform, overlay.isImported({ platform })]);
  expect(known).toEqual(
    platforms.map(([number, platform]) => [platform, isImportPlatform(Number(number))]),
  );
});
