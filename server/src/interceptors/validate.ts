import { ActivityService, AdmissionService, ImportService, MeService } from "@activity/proto";
import { createValidator } from "@bufbuild/protovalidate";
import type { Interceptor } from "@connectrpc/connect";
import { DomainError, ErrorCode } from "../errors.ts";

/**
 * Read calls check their few fields themselves, faster and in their own words; the rows of an import are
 * checked one by one, because a bad one must not end the stream.
 */
const CHECKED_BY_THE_SERVICE = new Set<string>([
  ActivityService.typeName,
  AdmissionService.typeName,
  MeService.typeName,
  ImportService.typeName,
]);

/** Holds the field rules written in the protos; fails with `invalid_parameter`, naming every field. */
export function createValidate(): Interceptor {
  const validator = createValidator();
  return (next) => async (request) => {
    if (request.stream || CHECKED_BY_THE_SERVICE.has(request.service.typeName)) {
      return next(request);
    }
    const result = validator.validate(request.method.input, request.message);
    if (result.kind === "invalid") {
      const sentences = result.violations.map(
        ({ field, message }) => `${pathOf(field)}: ${message}`,
      );
      throw new DomainError(ErrorCode.InvalidParameter, `${sentences.join("; ")}.`);
    }
    if (result.kind === "error") throw result.error;
    return next(request);
  };
}

/** The names on the way to a field. */
function pathOf(path: readonly { readonly kind: string; readonly name?: string }[]): string {
  return path.flatMap((step) => step.name ?? []).join(".");
}
