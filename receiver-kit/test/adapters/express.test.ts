import express, { type RequestHandler } from "express";
import { expect, it } from "vitest";
import { createExpressReceiver } from "../../src/adapters/express/index.ts";
import { createDelivery } from "../signed-delivery.ts";
import { describeReceiver } from "./conformance.ts";
import { post } from "./http-client.ts";
import { listen } from "./listen.ts";
import { collectProblems } from "./problems.ts";

describeReceiver("Express", (options) => {
  return listen(express().post("/webhooks", createExpressReceiver(options)));
});

const keepBytes = express.json({
  verify: (request, _response, bytes) => Object.assign(request, { rawBody: bytes }),
});

const setEncoding: RequestHandler = (request, _response, next) => {
  request.setEncoding("utf8").on("data", () => undefined);
  next();
};

it.each([
  ["express.json()", express.json(), 500, "above app.use(express.json()), or keep the bytes"],
  ["express.text()", express.text({ type: "*/*" }), 500, "another parser ran first"],
  ["request.setEncoding()", setEncoding, 500, "something called request.setEncoding()"],
  ["express.raw()", express.raw({ type: () => true }), 204, undefined],
  ["express.json() that keeps the bytes", keepBytes, 204, undefined],
] as const)("answers after %s as it must: %i", async (_name, parser, status, advice) => {
  const { problems, options } = collectProblems();
  const app = express().use(parser).post("/webhooks", createExpressReceiver(options));
  const receiver = await listen(app);
  const { body, headers } = await createDelivery();
  expect((await post(receiver.url, headers, body)).status).toBe(status);
  if (advice) expect(String(problems[0])).toContain(advice);
  await receiver.close();
});
