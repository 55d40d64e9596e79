import {
  AttemptOutcome,
  type Delivery,
  DeliverySchema,
  DeliveryState,
  type Endpoint,
  EndpointSchema,
  WebhookEventKind,
} from "@activity/proto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { deliveriesCsv } from "./deliveries-csv.ts";

const url = "https://a.com/hooks?token=t1";
const endpoint: Endpoint = create(EndpointSchema, { id: "e1", name: "", url });
const delivery = (donorName: string): Delivery =>
  create(DeliverySchema, {
    ...{ id: "d1", eventId: "wev_1", endpointId: "e1", kind: WebhookEventKind.DONATION_CREATED },
    ...{ state: DeliveryState.FAILED, attempts: 8, lastOutcome: AttemptOutcome.ROUTE_NOT_FOUND },
    createdAt: timestampFromMs(0),
    donation: { recordId: "r1", donorName, amountCents: 500n, currency: "eur" },
  });
const rowOf = (donorName: string) =>
  deliveriesCsv([delivery(donorName)], new Map([["e1", endpoint]])).split("\r\n")[1];

it("writes one line a delivery below their names, without the token that a URL may hold", () => {
  expect(deliveriesCsv([], undefined)).toMatch(/^delivery_id,.*,currency\r\n$/);
  expect(rowOf("Ada")).toBe(
    "d1,1970-01-01T00:00:00.000Z,wev_1,donation.created,false,e1,a.com,Failed,8,Route not found,r1,Ada,500,eur",
  );
});

it.each([
  ["a comma, a quote and a line", 'a,"b"\nc', '"a,""b""\nc"'],
  ["a formula", "=HYPERLINK(1)", "'=HYPERLINK(1)"],
  ["formulas after semicolons", 'x;=1+1;"=2', '"x;\'=1+1;\'""=2"'],
  ["no formula in a smiley", "x ;-)", "x ;-)"],
  ["a formula after a tab", "\t=1+1", "'\t'=1+1"],
  ["a formula on its own line", "a\n=1+1", '"a\n\'=1+1"'],
  ["full-width formulas", "＝1;＋1;＠1;－1;－)", "'＝1;'＋1;'＠1;'－1;－)"],
  ["a formula after a NUL", "\0=1+1", "'\0=1+1"],
  ["a formula with a comma", "@SUM(1,2)", '"\'@SUM(1,2)"'],
])("a donor's name with %s stays one cell that nothing computes", (_, name, cell) => {
  expect(deliveriesCsv([delivery(name)], undefined)).toContain(`,r1,${cell},500,eur\r\n`);
});
