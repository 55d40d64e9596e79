import { create, toBinary } from "@bufbuild/protobuf";
import { fileDesc } from "@bufbuild/protobuf/codegenv2";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

const empty = create(FileDescriptorProtoSchema, {
  name: "buf/validate/validate.proto",
  package: "buf.validate",
});

/**
 * Stands in the browser for buf/validate/validate.proto, which our protos import (vite.config.ts): an empty file of
 * its name. The rules stay in the descriptors as options that nobody reads.
 */
export const file_buf_validate_validate = fileDesc(
  btoa(String.fromCharCode(...toBinary(FileDescriptorProtoSchema, empty))),
);
