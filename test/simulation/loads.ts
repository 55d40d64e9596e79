import type {
  ClaimAttemptsResponse,
  LoadAttemptRequest,
  LoadAttemptResponse,
  ReadyAttempt,
  RunKey,
} from "@activity/proto";
import type { Message } from "@bufbuild/protobuf";
import type { Load } from "./attempts.ts";

/** When, with what and under which lease the bytes of an attempt were read. */
export type Source = Pick<Load, "loadedAtMs" | "loadedAtMicros" | "leasedAtMicros" | "secret">;

/** Which attempt of which run some bytes are of: a receiver is not told the run. */
export type Loads = {
  /** Notes that bytes were read for an endpoint. */
  note(payload: Uint8Array, endpointId: string, source: Source): void;
  /** Gives each attempt in an answer of the core bytes of its own, and returns what is known of them. */
  tell(method: string, request: Message, answer: Message): readonly Load[];
  of(body: Uint8Array): Load;
};

/** Creates a list of bytes. */
export function createLoads(): Loads {
  const sources = new WeakMap<Uint8Array, Map<string, Source>>();
  const loads = new WeakMap<Uint8Array, Load>();

  function own(ready: ReadyAttempt | undefined, key: RunKey | undefined, attempt: number): Load {
    if (ready === undefined || key === undefined) throw new Error("an answer lacks its attempt");
    const source = sources.get(ready.payload)?.get(ready.endpointId);
    if (source === undefined) throw new Error("bytes that nobody read");
    const { deliveryId, run } = key;
    const { endpointId } = ready;
    ready.payload = Uint8Array.from(ready.payload);
    const accountNo = Number(key.accountNo);
    const load = { ...source, accountNo, deliveryId, run, attempt, endpointId };
    loads.set(ready.payload, load);
    return load;
  }

  return {
    note(payload, endpointId, source) {
      const known = sources.get(payload) ?? new Map<string, Source>();
      sources.set(payload, known.set(endpointId, source));
    },
    tell(method, request, answer) {
      if (method === "claimAttempts") {
        const { attempts } = answer as ClaimAttemptsResponse;
        return attempts.map(({ run, ready }) => own(ready, run, 1));
      }
      if (method !== "loadAttempt") return [];
      const { step } = answer as LoadAttemptResponse;
      const { run, attempt } = request as LoadAttemptRequest;
      return step.case === "ready" ? [own(step.value, run, attempt)] : [];
    },
    of(body) {
      const load = loads.get(body);
      if (load === undefined) throw new Error("a POST of bytes that no answer held");
      return load;
    },
  };
}
