import { EndpointService } from "@activity/proto";
import { reflectionV1 } from "@activity/proto/infrastructure";
import { create, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { createHandlerContext } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { createReflectionService } from "./reflection-service.ts";

type Asked = reflectionV1.ServerReflectionRequest["messageRequest"];

const SYMBOL: Asked = { case: "fileContainingSymbol", value: EndpointService.typeName };

const context = createHandlerContext({
  service: reflectionV1.ServerReflection,
  method: reflectionV1.ServerReflection.method.serverReflectionInfo,
  ...{ protocolName: "local", requestMethod: "POST", url: "local:///" },
});

/** Opens a stream of a service, with its requests. */
function open(service: ReturnType<typeof createReflectionService>, ...asked: readonly Asked[]) {
  async function* requests() {
    for (const messageRequest of asked) {
      yield create(reflectionV1.ServerReflectionRequestSchema, { messageRequest });
    }
  }
  return service.serverReflectionInfo(requests(), context)[Symbol.asyncIterator]();
}

/** Sends requests on one stream. Returns the files of each answer, and the failure if the stream ended with one. */
async function reflect(...asked: readonly Asked[]) {
  const answers = open(createReflectionService([EndpointService]), ...asked);
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

it("finds a file by its name and by what it declares", async () => {
  const name = EndpointService.file.proto.name;
  const { files } = await reflect({ case: "fileByFilename", value: name }, SYMBOL);
  const names = files.map(([file = new Uint8Array()]) => {
    return fromBinary(FileDescriptorProtoSchema, file).name;
  });
  expect(names).toEqual([name, name]);
});
