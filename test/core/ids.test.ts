import {
  AccountService,
  ActivityService,
  ApiKeyService,
  DeliveryService,
  DispatchService,
  DonationService,
  EndpointService,
  ErrorInfoSchema,
  ImportService,
  MeService,
  Platform,
  PlatformEventService,
} from "@activity/proto";
import type { DescField, DescMessage, DescService } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { useTestStack } from "../harness/stack.ts";

/** 15 characters, as long as an id, that no column of ids can be compared with. */
const NO_ID = "é".repeat(15);
const SERVICES: readonly DescService[] = [
  AccountService,
  ActivityService,
  ApiKeyService,
  DeliveryService,
  DispatchService,
  DonationService,
  EndpointService,
  MeService,
  PlatformEventService,
];

const stack = useTestStack();

/** Whether a field holds an id of ours: the external ones are text of any kind. */
const isId = ({ name }: DescField) => name.endsWith("_id") && !name.endsWith("external_id");

/** A message in which nothing but its ids is set, each to what is none, and the paths of these fields. */
function withoutIds({ fields }: DescMessage): { request: object; paths: string[] } {
  const paths: string[] = [];
  const entries = fields.flatMap((field): [string, unknown][] => {
    if (isId(field)) {
      paths.push(field.name);
      return [[field.localName, NO_ID]];
    }
    if (field.message === undefined) return [];
    const inner = withoutIds(field.message);
    if (inner.paths.length === 0) return [];
    paths.push(...inner.paths.map((path) => `${field.name}.${path}`));
    return [[field.localName, field.fieldKind === "list" ? [inner.request] : inner.request]];
  });
  return { request: Object.fromEntries(entries), paths };
}

const METHODS = SERVICES.flatMap((service) =>
  service.methods
    .map((method) => ({ service, method, name: method.name, ...withoutIds(method.input) }))
    .filter(({ paths }) => paths.length > 0),
);

async function failureOf(call: Promise<unknown> | undefined): Promise<ConnectError | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    return ConnectError.from(error);
  }
}

/** Holds that a call was refused for these fields, and that nobody took it for a bug. */
function expectRefusal(failure: ConnectError | undefined, paths: readonly string[]): void {
  expect(failure?.findDetails(ErrorInfoSchema)[0]?.code).toBe("invalid_parameter");
  for (const path of paths) expect(failure?.message).toContain(path);
  expect(stack.log.filter((line) => line.includes("call failed"))).toEqual([]);
}

it.each(METHODS)("$name refuses a text that is no id, and names it", async (called) => {
  const { service, method, request, paths } = called;
  const client = stack.client(service);
  const calls = client as unknown as Record<string, (request: object) => Promise<unknown>>;
  expectRefusal(await failureOf(calls[method.localName]?.(request)), paths);
});

it("ImportDonations refuses a text that is no id, and names it", async () => {
  async function* opening() {
    const value = { accountId: NO_ID, platform: Platform.CSV };
    yield { step: { case: "opening" as const, value } };
  }
  const answers = stack.client(ImportService).importDonations(opening());
  expectRefusal(await failureOf(answers[Symbol.asyncIterator]().next()), ["account_id"]);
});
