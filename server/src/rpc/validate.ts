import { createValidator } from "@bufbuild/protovalidate";
import type { Interceptor } from "@connectrpc/connect";
import { DomainError, ErrorCode } from "../common/errors.ts";
import type { FindService } from "./registered-service.ts";
import { createSurelyValid } from "./surely-valid.ts";

/** Both validators compile and cache a message type's rules at its first use. */
const validator = createValidator();
const isSurelyValid = createSurelyValid();

/** Checks the field rules of the protos. Fails with `invalid_parameter` and names every invalid field. */
export function createValidate(findService: FindService): Interceptor {
  return (next) => async (request) => {
    if (request.stream || !findService(request.service).isValidated) return next(request);
    if (isSurelyValid(request.method.input, request.message)) return next(request);
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

/** Returns the names of a field's path, joined by dots. */
function pathOf(path: readonly { readonly kind: string; readonly name?: string }[]): string {
  return path.flatMap((step) => step.name ?? []).join(".");
}
