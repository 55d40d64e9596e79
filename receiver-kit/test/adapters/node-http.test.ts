import { expect, it } from "vitest";
import { createNodeReceiver } from "../../src/adapters/node-http/index.ts";
import { createDelivery } from "../signed-delivery.ts";
import { describeReceiver } from "./conformance.ts";
import { post } from "./http-client.ts";
import { listen } from "./listen.ts";
import { collectProblems } from "./problems.ts";

describeReceiver("node:http", (options) => listen(createNodeReceiver(options)));

it("reports that a stream was consumed or decoded before, or decoded meanwhile, and continues", async () => {
  const { problems, options } = collectProblems();
  const receive = createNodeReceiver(options);
  let requests = 0;
  const receiver = await listen(async (request, response) => {
    requests += 1;
    if (requests === 1) for await (const _chunk of request);
    if (requests === 2) request.setEncoding("utf8").on("data", () => {});
    const received = receive(request, response);
    if (requests === 3) request.setEncoding("utf8");
    await received;
  });
  const { body, headers } = await createDelivery();
  for (const reported of [
    "was read before",
    "something called request.setEncoding()",
    "TypeError",
  ]) {
    expect((await post(receiver.url, headers, body)).status).toBe(500);
    expect(String(problems.pop())).toContain(reported);
  }
  expect((await post(receiver.url, headers, body)).status).toBe(204);
  await receiver.close();
});
