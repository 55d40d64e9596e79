import { DispatchService } from "@activity/proto";
import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { type CallOptions, type Client, Code, ConnectError } from "@connectrpc/connect";
import type { Core } from "./core.ts";
import { Fault, type Faults } from "./faults.ts";
import type { Process, World } from "./world.ts";

/** What goes one way between a dispatcher and the core, what does not, and by how much it is late. */
export type Cut = { isCutThere: boolean; isCutBack: boolean; lagMs: number };

/** What a dispatcher's calls need. */
export type WireParts = {
  readonly world: World;
  readonly faults: Faults;
  readonly process: Process;
  readonly cut: Cut;
  /** The core that answers now, if there is one. */
  readonly core: () => Core | undefined;
  /** Told of each answer before it is heard. */
  readonly onAnswer: (method: string, request: Message, answer: Message) => void;
};

/** Creates the client of a dispatcher, whose calls and answers are delayed, lost, or arrive twice. */
export function createWire(parts: WireParts): Client<typeof DispatchService> {
  const methods = DispatchService.methods.map((method) => [
    method.localName,
    (init: Record<string, unknown>, options?: CallOptions) => call(parts, method, init, options),
  ]);
  // One function for each method of the service, as its client has them.
  return Object.fromEntries(methods) as Client<typeof DispatchService>;
}

function call(
  { world, faults, process, cut, core, onAnswer }: WireParts,
  method: DescMethod,
  init: Record<string, unknown>,
  { timeoutMs, signal }: CallOptions = {},
): Promise<Message> {
  const name = method.localName;
  const request = create(method.input, init);
  const answer = Promise.withResolvers<Message>();
  const caller = new AbortController();
  const passage = faults.pass(`wire ${process.name} ${name}`);
  const { fault } = passage;
  const [thereMs, backMs] = [passage.thereMs + cut.lagMs, passage.backMs + cut.lagMs];
  const back = (settle: () => void) =>
    world.after(backMs, () => cut.isCutBack || fault === Fault.AnswerLost || settle(), process);
  const refuse = () => answer.reject(new ConnectError("away", Code.Unavailable));
  const hangUp = () => world.after(thereMs, () => cut.isCutThere || caller.abort());

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
    if (cut.isCutThere || fault === Fault.Lost) return;
    const called = core();
    if (called === undefined || fault === Fault.Refused) {
      back(refuse);
      return;
    }
    const noReset = called.process.onKill(() => back(refuse));
    called.answer(method, request, caller.signal).then(
      (init) => {
        noReset();
        const heard = create(method.output, init);
        onAnswer(name, request, heard);
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
