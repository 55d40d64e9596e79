import { Agent, request } from "node:https";
import { setTimeout as wait } from "node:timers/promises";
import { createPaidDonation } from "../harness/builders.ts";
import { clientsOf } from "../harness/clients.ts";

/** An account that is read and written. */
export type LoadedAccount = { readonly accountId: string; readonly apiKey: string };

/** Load that runs until it is stopped. */
export type Load = {
  /** Requests that were answered as they should be. */
  answered(): number;
  /** What went wrong, one line a request. */
  readonly failures: readonly string[];
  stop(): Promise<void>;
};

/** Below the account's limit of 120 in 60 seconds. §8 */
const READ_PAUSE_MS = 550;
const WRITE_PAUSE_MS = 200;
const REQUEST_TIMEOUT_MS = 15_000;

/**
 * One reader for each account, on a connection that it keeps and from an address of its own; it repeats nothing
 * that fails.
 */
export function startReaders(port: number, ca: string, accounts: readonly LoadedAccount[]): Load {
  return startLoops(
    READ_PAUSE_MS,
    accounts.map(({ apiKey }, place) => {
      const agent = new Agent({
        ...{ keepAlive: true, maxSockets: 1, ca, localAddress: `127.0.1.${place + 1}` },
      });
      return {
        step: () => read(agent, port, apiKey),
        end: async () => agent.destroy(),
      };
    }),
  );
}

function read(agent: Agent, port: number, apiKey: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        ...{ agent, port, host: "127.0.0.1", path: "/api/v1/activity?limit=100" },
        headers: { authorization: `Bearer ${apiKey}` },
        timeout: REQUEST_TIMEOUT_MS,
      },
      (incoming) => {
        incoming.resume();
        incoming.on("error", reject);
        incoming.on("end", () => {
          if (incoming.statusCode === 200) resolve();
          else reject(new Error(`status ${incoming.statusCode}`));
        });
      },
    );
    outgoing.on("timeout", () => outgoing.destroy(new Error("no answer in time")));
    outgoing.on("error", reject);
    outgoing.end();
  });
}

/** Writers of paid donations, each with a gRPC connection of its own that repeats nothing that fails. */
export function startWriters(
  port: number,
  ca: string,
  credential: string,
  accounts: readonly LoadedAccount[],
  count: number,
): Load {
  return startLoops(
    WRITE_PAUSE_MS,
    Array.from({ length: count }, (_, writer) => {
      const options = { nodeOptions: { ca }, defaultTimeoutMs: REQUEST_TIMEOUT_MS };
      const client = clientsOf(`https://127.0.0.1:${port}`, credential, options);
      let turn = writer;
      const step = async () => {
        const { accountId = "" } = accounts[turn++ % accounts.length] ?? {};
        await createPaidDonation({ client }, accountId);
      };
      return { step, end: async () => undefined };
    }),
  );
}

function startLoops(
  pauseMs: number,
  loops: readonly { step(): Promise<void>; end(): Promise<void> }[],
): Load {
  const failures: string[] = [];
  let answered = 0;
  let isStopped = false;
  const running = loops.map(async ({ step, end }) => {
    while (!isStopped) {
      await step().then(
        () => {
          answered += 1;
        },
        (error: unknown) => void failures.push(String(error)),
      );
      await wait(pauseMs);
    }
    await end();
  });
  return {
    answered: () => answered,
    failures,
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}
