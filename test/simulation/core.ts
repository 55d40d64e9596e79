import { DispatchService } from "@activity/proto";
import { create, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { createContextValues, type HandlerContext, type Interceptor } from "@connectrpc/connect";
import { createDispatchService } from "../../server/src/dispatch/dispatch-service.ts";
import { resumeOrphanedRuns } from "../../server/src/dispatch/orphaned-runs.ts";
import { createOutbox } from "../../server/src/dispatch/outbox.ts";
import { createErrorMapping } from "../../server/src/rpc/error-mapping.ts";
import { createSecretKey } from "../../server/src/signing-secret/secret-cipher.ts";
import { QUIET } from "../harness/quiet.ts";
import type { Database } from "./database.ts";
import { createMemoryPackets } from "./memory-packets.ts";
import { createMemoryPool } from "./memory-pool.ts";
import { createMemoryStore } from "./memory-store.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

export const SECRET_KEYS = [createSecretKey(Buffer.alloc(32, 7))] as const;
const ORPHANS_EVERY_MS = 5_000;

/** The core calls this before it encodes an answer. This may change the answer. */
export type OnAnswer = (method: string, request: Message, answer: Message) => void;

export type Core = ReturnType<typeof createCore>;

/** Starts a core process: the real dispatch service, and the parts of owners' writes. */
export function createCore(world: World, database: Database, random: Random) {
  const process = world.startProcess("core");
  const { link, session } = database.connect(process);
  const { timing } = process;
  const store = createMemoryStore(database.tables, link, session);
  const outbox = createOutbox(timing);
  const service = createDispatchService({
    ...{ store, outbox, secretKeys: SECRET_KEYS, random: random.next, log: QUIET },
  });
  const mapErrors = createErrorMapping(QUIET);

  async function resumeOrphans(): Promise<void> {
    await resumeOrphanedRuns(store, outbox.retries.notify, QUIET).catch(() => undefined);
    timing.after(ORPHANS_EVERY_MS, resumeOrphans);
  }
  timing.after(ORPHANS_EVERY_MS, resumeOrphans);

  return {
    process,
    outbox,
    packets: createMemoryPackets(database.tables, link, session),
    pool: createMemoryPool(database.tables, link, process.onKill),
    /** Answers a call as the core's listener does. Calls `onAnswer` before it encodes the answer. */
    async answer(name: string, bytes: Uint8Array, signal: AbortSignal, onAnswer: OnAnswer) {
      const method = DispatchService.method[name as keyof typeof DispatchService.method];
      const request = fromBinary(method.input, bytes);
      const handler = service[name as keyof typeof service];
      // All methods of the service are unary.
      const handle = handler as (message: Message, context: HandlerContext) => Promise<object>;
      const context = { signal, values: createContextValues() } as HandlerContext;
      // `mapErrors` reads only the names of the call, and returns the answer unchanged.
      const call = { service: DispatchService, method } as unknown as Parameters<
        ReturnType<Interceptor>
      >[0];
      const next = async () => ({ stream: false, message: await handle(request, context) });
      const mapped = mapErrors(next as unknown as Parameters<Interceptor>[0]);
      const output: DescMessage = method.output;
      const answer = create(output, (await mapped(call)).message as Message);
      onAnswer(name, request, answer);
      return toBinary(output, answer);
    },
  };
}
