import { EndpointService } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { beforeEach, expect, it } from "vitest";
import { verify } from "../../receiver-kit/src/index.ts";
import { createPaidDonation } from "../harness/builders.ts";
import { bodyOf, useDeliveryStack } from "./harness-deliveries.ts";
import type { Behaviour, ReceivedRequest } from "./harness-receiver.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const WRITERS = 32;
/** Longer than a call takes behind the writers, on a slow machine too. */
const AHEAD_MS = 6_000;
/** A load has at least this many deliveries on either side of the moment. */
const MANY = 100;
/** A load makes a busy machine slow. */
const PATIENT = { timeout: 60_000 };

/** A delivery as the receiver saw it, times in milliseconds. */
type Received = {
  readonly request: ReceivedRequest;
  readonly createdAt: number;
  readonly arrivedAt: number;
};

const delivery = useDeliveryStack((socket, request) => void receive(socket, request));
let key: { accountId: string; endpointId: string };
/** The receiver's list of secrets. */
let secrets: string[];
let written: number;
let taken: Received[];
let refused: Received[];
beforeEach(async () => {
  const { accountId, endpointId, secret } = await delivery.createOwner();
  key = { accountId, endpointId };
  secrets = [secret];
  written = 0;
  taken = [];
  refused = [];
});

/** Answers as a receiver on the kit does: whatever verifies with none of its secrets is refused. */
async function receive(...[socket, request]: Parameters<Behaviour>): Promise<void> {
  const createdAt = Date.parse(bodyOf(request).created_at);
  const received = { request, createdAt, arrivedAt: Date.now() };
  const isSigned = await isSignedWith(secrets, request);
  (isSigned ? taken : refused).push(received);
  answer(isSigned ? 204 : 400)(socket, request);
}

const isSignedWith = (list: string[], { body, headers }: ReceivedRequest) =>
  verify(body, Object.fromEntries(headers), { secrets: list }).then(
    () => true,
    () => false,
  );

/** Writes donations, several at once, until it is stopped; then all of them have arrived. */
function startLoad() {
  let stopped = false;
  const writer = async () => {
    while (!stopped) {
      await createPaidDonation(delivery.stack, key.accountId);
      written += 1;
    }
  };
  const writers = Promise.all(Array.from({ length: WRITERS }, writer));
  return async () => {
    stopped = true;
    await writers;
    await expect.poll(() => taken.length + refused.length, PATIENT).toBe(written);
  };
}

const endpoints = () => delivery.stack.client(EndpointService);
const createdSince = (ms: number) => taken.filter(({ createdAt }) => createdAt >= ms);
const rotateAhead = async () => {
  const moment = Date.now() + AHEAD_MS;
  const signsFrom = timestampFromMs(moment);
  const { secret } = await endpoints().rotateSecret({ ...key, signsFrom });
  return { moment, secret };
};

it("a rotation ahead, under load, refuses no delivery of a receiver that takes both secrets", async () => {
  const stopLoad = startLoad();
  await expect.poll(() => taken.length, PATIENT).toBeGreaterThan(MANY);
  const { moment, secret } = await rotateAhead();
  const [old = ""] = secrets;
  secrets = [old, secret];
  await expect.poll(() => createdSince(moment).length, PATIENT).toBeGreaterThan(MANY);
  await stopLoad();
  expect(refused).toEqual([]);

  // One that arrived before the moment was loaded before, and one of an event made since, since.
  const before = taken.filter(({ arrivedAt }) => arrivedAt < moment);
  const since = createdSince(moment);
  expect(before.length).toBeGreaterThan(MANY);
  for (const { request } of before) expect(await isSignedWith([old], request)).toBe(true);
  for (const { request } of since) expect(await isSignedWith([secret], request)).toBe(true);

  secrets = [secret];
  const stopAgain = startLoad();
  const settled = Date.now();
  await expect.poll(() => createdSince(settled).length, PATIENT).toBeGreaterThan(MANY);
  await stopAgain();
  expect(refused).toEqual([]);
}, 180_000);

it("a rotation that was canceled, under load, refuses nothing: the secret before goes on past its moment", async () => {
  const stopLoad = startLoad();
  const { moment, secret } = await rotateAhead();
  await endpoints().cancelRotation(key);
  await expect.poll(() => createdSince(moment).length, PATIENT).toBeGreaterThan(MANY);
  await stopLoad();
  expect(refused).toEqual([]);
  expect(secrets).not.toContain(secret);
}, 180_000);
