import { ErrorInfoSchema } from "@activity/proto";
import type { reflectionV1 } from "@activity/proto/infrastructure";
import {
  createFileRegistry,
  type DescFile,
  type DescService,
  type FileRegistry,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { OverloadedError } from "../common/overloaded-error.ts";

type Request = reflectionV1.ServerReflectionRequest["messageRequest"];
type Answer = NonNullable<
  MessageInitShape<typeof reflectionV1.ServerReflectionResponseSchema>["messageResponse"]
>;

/** The most requests of one stream. Tools send about one for each service. */
const MAX_REQUESTS = 200;
/** The most streams at once. Each may hold an answer of 140 KB in memory for as long as its client does not read. */
const MAX_STREAMS = 32;
const TOO_MANY = `The stream sent more than ${MAX_REQUESTS} requests. One stream accepts ${MAX_REQUESTS}. Open another stream for the rest.`;
/**
 * Files in their binary form. They are kept, because anybody may ask for them, and encoding a file and its imports
 * takes a millisecond.
 */
const encodedFiles = new WeakMap<FileDescriptorProto, Uint8Array>();

/**
 * Answers the gRPC reflection protocol, v1 and v1alpha with the same messages. It knows these services, all types that
 * they use, and the detail of their errors, so grpcurl and buf curl need no files. A stream ends with
 * RESOURCE_EXHAUSTED after `MAX_REQUESTS`. Beyond `MAX_STREAMS` a stream fails with OverloadedError.
 */
export function createReflectionService(
  services: readonly DescService[],
): ServiceImpl<typeof reflectionV1.ServerReflection> {
  const files = [...services.map(({ file }) => file), ErrorInfoSchema.file];
  const registry = createFileRegistry(...files.map(registryOf));
  const names = services.map(({ typeName }) => typeName);
  let streams = 0;
  return {
    async *serverReflectionInfo(requests, context) {
      // Does not use `context.signal`, because a deadline aborts it while the stream still holds its answer.
      const { requestSignal: closed } = context as { requestSignal?: AbortSignal };
      if (closed?.aborted) return;
      if (streams === MAX_STREAMS) throw new OverloadedError();
      streams++;
      // Does not count in `finally`, which does not run if the stream is closed during the write of an answer.
      closed?.addEventListener("abort", () => streams--, { once: true });
      let answered = 0;
      for await (const originalRequest of requests) {
        if (answered++ === MAX_REQUESTS) throw new ConnectError(TOO_MANY, Code.ResourceExhausted);
        const messageResponse = answer(registry, names, originalRequest.messageRequest);
        yield { validHost: originalRequest.host, originalRequest, messageResponse };
      }
    },
  };
}

function registryOf(file: DescFile): FileRegistry {
  return createFileRegistry(file.proto, (name) => dependencyOf(file, name));
}

function dependencyOf(file: DescFile, name: string): DescFile | undefined {
  const direct = file.dependencies.find((dependency) => dependency.proto.name === name);
  if (direct) return direct;
  for (const dependency of file.dependencies) {
    const found = dependencyOf(dependency, name);
    if (found) return found;
  }
  return undefined;
}

function answer(registry: FileRegistry, names: readonly string[], request: Request): Answer {
  switch (request.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: names.map((name) => ({ name })) } };
    case "fileByFilename":
      return filesFrom(registry.getFile(request.value), request.value);
    case "fileContainingSymbol":
      return filesFrom(fileOfSymbol(registry, request.value), request.value);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = request.value;
      const extendee = registry.getMessage(containingType);
      const extension = extendee && registry.getExtensionFor(extendee, extensionNumber);
      return filesFrom(extension?.file, `extension ${extensionNumber} of ${containingType}`);
    }
    case "allExtensionNumbersOfType":
      return extensionsOf(registry, request.value);
    default:
      return failure(Code.InvalidArgument, "the request asks for nothing");
  }
}

/** Finds the file of a symbol: a service, a type, a method of a service or a field of a message. */
function fileOfSymbol(registry: FileRegistry, symbol: string): DescFile | undefined {
  const owner = symbol.slice(0, Math.max(0, symbol.lastIndexOf(".")));
  return (registry.get(symbol) ?? registry.get(owner))?.file;
}

/** Returns a file and all its imports, each once, the file itself first. */
function filesFrom(file: DescFile | undefined, asked: string): Answer {
  if (file === undefined) return failure(Code.NotFound, `${asked} is not known`);
  const files = new Set<DescFile>();
  const add = (next: DescFile): void => {
    if (files.has(next)) return;
    files.add(next);
    next.dependencies.forEach(add);
  };
  add(file);
  return {
    case: "fileDescriptorResponse",
    value: { fileDescriptorProto: [...files].map(({ proto }) => encodedFile(proto)) },
  };
}

function encodedFile(proto: FileDescriptorProto): Uint8Array {
  const known = encodedFiles.get(proto);
  if (known !== undefined) return known;
  const encoded = toBinary(FileDescriptorProtoSchema, proto);
  encodedFiles.set(proto, encoded);
  return encoded;
}

function extensionsOf(registry: FileRegistry, typeName: string): Answer {
  const type = registry.getMessage(typeName);
  if (type === undefined) return failure(Code.NotFound, `${typeName} is not known`);
  const extensionNumber = [...registry].flatMap((each) =>
    each.kind === "extension" && each.extendee.typeName === typeName ? each.number : [],
  );
  const value = { baseTypeName: typeName, extensionNumber };
  return { case: "allExtensionNumbersResponse", value };
}

function failure(errorCode: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}
