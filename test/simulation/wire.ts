import type { DispatchService } from "@activity/proto";
import { create, type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { type CallOptions, type Client, Code, ConnectError } from "@connectrpc/connect";
import type { Core, OnAnswer } from "./core.ts";
import { Fault, type Faults } from "./faults.ts";
import type { Process, World } from "./world.ts";

/** The connection of a dispatcher to the core: whether it is cut in each direction, and its delay. */
export type Cut = { "cut there": boolean; "cut back": boolean; lagMs: number };

/** Returns the settings of a connection without faults. */
export const notCut = (): Cut => ({ "cut there": false, "cut back": false, lagMs: 0 });

/** What the calls of a dispatcher need. */
export type WireParts = {
  readonly world: World;
  readonly faults: Faults;
  readonly process: Process;
  readonly cut: Cut;
  /** The core that answers now, if one lives. */
  readonly core: () => Core | undefined;
  /** Called with each answer before the dispatcher gets it. */
  readonly onAnswer: OnAnswer;
};

/**
 * Creates the client of a dispatcher. `service` is the service as the dispatcher's version knows it. Calls and answers
 * can be late, get lost, or arrive twice.
 */
export function createWire(
  parts: WireParts,
  service: typeof DispatchService,
): Client<typeof DispatchService> {
  const methods = service.methods.map((method) => [
    method.localName,
    (init: Record<string, unknown>, options?: CallOptions) => call(parts, method, init, options),
  ]);
  // A client has one function for each method of the service.
  return Object.fromEntries(methods) as Client<typeof DispatchService>;
}

function call(
  { world, faults, process, cut, core, onAnswer }: WireParts,
  method: DescMethod,
  init: Record<string, unknown>,
  { timeoutMs, signal }: CallOptions = {},
): Promise<Message> {
  const name = method.localName;
  const request = toBinary(method.input, create(method.input, init));
  const answer = Promise.withResolvers<Message>();
  const caller = new AbortController();
  const passage = faults.pass(`wire ${process.name} ${name}`);
  const { fault } = passage;
  const [thereMs, backMs] = [passage.thereMs + cut.lagMs, passage.backMs + cut.lagMs];
  const back = (settle: () => void) =>
    world.after(backMs, () => cut["cut back"] || fault === Fault.AnswerLost || settle(), process);
  const refuse = () => answer.reject(new ConnectError("away", Code.Unavailable));
  const hangUp = () => world.after(thereMs, () => cut["cut there"] || caller.abort());

  const giveUp = (code: Code) => () => {
    answer.reject(new ConnectError("given up", code));
    hangUp();
  };
  const cancel = giveUp(Code.Canceled);
  signal?.addEventListener("abort", cancel, { once: true });
  const noKill = process.onKill(hangUp);
  const late = giveUp(Code.DeadlineExceeded);
  const forget = timeoutMs === undefined ? undefined : world.after(timeoutMs, late, process);
  const end = () => {
    forget?.();
    noKill();
    signal?.removeEventListener("abort", cancel);
  };
  answer.promise.then(end, end);

  function arrive(): void {
    if (cut["cut there"] || fault === Fault.Lost) return;
    const called = core();
    if (called === undefined || fault === Fault.Refused) {
      back(refuse);
      return;
    }
    const noReset = called.process.onKill(() => back(refuse));
    called.answer(name, request, caller.signal, onAnswer).then(
      (bytes) => {
        noReset();
        const heard = fromBinary(method.output, bytes);
        back(() => (fault === Fault.Broken ? refuse() : answer.resolve(heard)));
      },
      (error: unknown) => {
        noReset();
        back(() => answer.reject(error));
      },
    );
  }
  world.after(thereMs, arrive);
  if (fault === Fault.Twice) world.after(thereMs + backMs, arrive);
  if (signal?.aborted) cancel();
  return answer.promise;
}
