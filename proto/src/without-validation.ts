import { create, toBinary } from "@bufbuild/protobuf";
import { fileDesc } from "@bufbuild/protobuf/codegenv2";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

const empty = create(FileDescriptorProtoSchema, {
  name: "buf/validate/validate.proto",
  package: "buf.validate",
});

/**
 * Replaces buf/validate/validate.proto in browsers and in `@activity/client`, because only the server validates.
 * "imports" in the package.json of `proto` and of `proto/client` chooses this file. Our protos import validate.proto,
 * so this is an empty file with its name. The rules stay in our descriptors as options that nothing reads.
 */
export const file_buf_validate_validate = fileDesc(
  btoa(String.fromCharCode(...toBinary(FileDescriptorProtoSchema, empty))),
);
