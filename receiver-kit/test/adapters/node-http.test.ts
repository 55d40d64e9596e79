import { expect, it } from "vitest";
import { createNodeReceiver } from "../../src/adapters/node-http/index.ts";
import { createMemoryStore } from "../../src/stores/memory/index.ts";
import { createDelivery, SECRET } from "../signed-delivery.ts";
import { describeReceiver } from "./conformance.ts";
import { post } from "./http-client.ts";
import { listen } from "./listen.ts";

describeReceiver("node:http", (options) => listen(createNodeReceiver(options)));

it("reports that a stream was consumed before", async () => {
  const problems: unknown[] = [];
  const receive = createNodeReceiver({
    secrets: SECRET,
    store: createMemoryStore(),
    handle: () => {},
    onProblem: ({ error }) => problems.push(error),
  });
  const receiver = await listen(async (request, response) => {
    for await (const _chunk of request);
    await receive(request, response);
  });
  const { body, headers } = await createDelivery();
  expect((await post(receiver.url, headers, body)).status).toBe(500);
  expect(String(problems[0])).toContain("the request was read before");
  await receiver.close();
});
