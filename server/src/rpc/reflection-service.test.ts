import { EndpointService, ErrorInfoSchema } from "@activity/proto";
import { reflectionV1 } from "@activity/proto/infrastructure";
import { create, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, createHandlerContext } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { OverloadedError } from "../common/overloaded-error.ts";
import { createReflectionService } from "./reflection-service.ts";

type Asked = reflectionV1.ServerReflectionRequest["messageRequest"];

const SYMBOL: Asked = { case: "fileContainingSymbol", value: EndpointService.typeName };

const createContext = (requestSignal?: AbortSignal) =>
  createHandlerContext({
    service: reflectionV1.ServerReflection,
    method: reflectionV1.ServerReflection.method.serverReflectionInfo,
    ...{ protocolName: "local", requestMethod: "POST", url: "local:///" },
    ...(requestSignal && { requestSignal }),
  });

type Service = ReturnType<typeof createReflectionService>;

function open(service: Service, asked: readonly Asked[], context = createContext()) {
  async function* requests() {
    for (const messageRequest of asked) {
      yield create(reflectionV1.ServerReflectionRequestSchema, { messageRequest });
    }
  }
  return service.serverReflectionInfo(requests(), context)[Symbol.asyncIterator]();
}

/** Sends requests on one stream. Returns the files of each answer, and the failure if the stream ended with one. */
async function reflect(...asked: readonly Asked[]) {
  const answers = open(createReflectionService([EndpointService]), asked);
  const files: (readonly Uint8Array[])[] = [];
  try {
    for await (const { messageResponse: answer } of { [Symbol.asyncIterator]: () => answers }) {
      files.push(
        answer?.case === "fileDescriptorResponse" ? (answer.value.fileDescriptorProto ?? []) : [],
      );
    }
    return { files };
  } catch (failure) {
    return { files, failure };
  }
}

it("encodes each file once, for all streams", async () => {
  const { files } = await reflect(SYMBOL, SYMBOL);
  const [again = []] = (await reflect(SYMBOL)).files;
  expect(again.length).toBeGreaterThan(1);
  for (const answer of files) {
    expect(answer.every((file, index) => file === again[index])).toBe(true);
  }
});

it("ends a stream after 200 requests, ADR 0037", async () => {
  const most = Array.from({ length: 200 }, () => SYMBOL);
  expect(await reflect(...most)).toEqual({ files: expect.objectContaining({ length: 200 }) });
  const { files, failure } = await reflect(...most, SYMBOL, SYMBOL);
  expect(files).toHaveLength(200);
  expect(failure).toMatchObject({
    code: Code.ResourceExhausted,
    rawMessage:
      "The stream sent more than 200 requests. One stream accepts 200. Open another stream for the rest.",
  });
});

it("answers 32 streams at once, ADR 0037", async () => {
  const service = createReflectionService([EndpointService]);
  const requests = Array.from({ length: 32 }, () => new AbortController());
  for (const { signal } of requests) {
    const context = createContext(signal);
    expect(await open(service, [SYMBOL], context).next()).toMatchObject({ done: false });
    // Aborts `context.signal`, as the deadline does. The stream still holds its answer.
    context.abort();
  }
  await expect(open(service, [SYMBOL]).next()).rejects.toThrow(OverloadedError);
  // A client that goes away ends its stream during the answer.
  requests[0]?.abort();
  expect(await open(service, [SYMBOL]).next()).toMatchObject({ done: false });
});

it("finds the detail of errors, which no service's file imports", async () => {
  const { files } = await reflect({
    case: "fileContainingSymbol",
    value: "activity.read.v1.ErrorInfo",
  });
  const [[first = new Uint8Array()] = []] = files;
  const { name } = fromBinary(FileDescriptorProtoSchema, first);
  expect(name).toBe(ErrorInfoSchema.file.proto.name);
});

it("finds a file by its name and by what it declares", async () => {
  const name = EndpointService.file.proto.name;
  const { files } = await reflect({ case: "fileByFilename", value: name }, SYMBOL);
  const names = files.map(([file = new Uint8Array()]) => {
    return fromBinary(FileDescriptorProtoSchema, file).name;
  });
  expect(names).toEqual([name, name]);
});
