import * as proto from "@activity/proto";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";

/** Every method of the core's services. */
export const METHODS: readonly DescMethod[] = Object.values(proto).flatMap(
  (exported): readonly DescMethod[] =>
    "kind" in exported && exported.kind === "service" ? exported.methods : [],
);

export const nameOf = ({ parent, name }: DescMethod) => `${parent.name}/${name}`;

type AnyClient = (service: DescService, headers?: Record<string, string>) => unknown;

/** Calls any method. A unary method gets the first message. Returns its failure. */
export async function failureOf(
  client: AnyClient,
  method: DescMethod,
  messages: readonly object[],
  headers?: Record<string, string>,
): Promise<ConnectError | undefined> {
  const calls = client(method.parent, headers) as Record<string, (request: object) => unknown>;
  const isUnary = method.methodKind === "unary";
  try {
    const answer = calls[method.localName]?.(isUnary ? (messages[0] ?? {}) : send(messages));
    if (isUnary) await answer;
    else for await (const _ of answer as AsyncIterable<unknown>);
    return undefined;
  } catch (error) {
    return ConnectError.from(error);
  }
}

async function* send(messages: readonly object[]) {
  yield* messages;
}
