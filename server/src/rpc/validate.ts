import { getOption } from "@bufbuild/protobuf";
import type { Path } from "@bufbuild/protobuf/reflect";
import { createValidator } from "@bufbuild/protovalidate";
import { field as fieldOption } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { Interceptor } from "@connectrpc/connect";
import { enumNames } from "../common/enum-names.ts";
import { DomainError, ErrorCode } from "../common/errors.ts";
import type { FindService } from "./registered-service.ts";
import { createSurelyValid } from "./surely-valid.ts";

/** Both validators compile and cache a message type's rules at its first use. */
const validator = createValidator();
const isSurelyValid = createSurelyValid();

/** The patterns of the protos, in words. */
const PATTERNS: Readonly<Record<string, string>> = {
  "^[a-z0-9]{15}$": "15 characters, a-z and 0-9",
  "^([a-z0-9]{15})?$": "nothing, or 15 characters, a-z and 0-9",
  "^(wev_[a-z0-9]{15})?$": "nothing, or wev_ and 15 characters, a-z and 0-9",
  "^[A-Za-z0-9_.-]{1,64}$": "1 to 64 characters: A-Z, a-z, 0-9, underscore, dot and hyphen",
  "^[a-z]{3}$": "a lower-case ISO 4217 code",
};

/**
 * Checks the field rules of the protos. Fails with `invalid_parameter`, which names every invalid field and what it
 * accepts.
 */
export function createValidate(findService: FindService): Interceptor {
  return (next) => async (request) => {
    if (request.stream || !findService(request.service).isValidated) return next(request);
    if (isSurelyValid(request.method.input, request.message)) return next(request);
    const result = validator.validate(request.method.input, request.message);
    if (result.kind === "invalid") {
      const sentences = result.violations.map(({ field, message }) => {
        const accepted = acceptedAt(field);
        if (accepted) return `${pathOf(field)} accepts ${accepted}`;
        // A rule of the whole message names its fields itself.
        return field.length > 0 ? `${pathOf(field)}: ${message}` : message;
      });
      throw new DomainError(ErrorCode.InvalidParameter, `${sentences.join("; ")}.`);
    }
    if (result.kind === "error") throw result.error;
    return next(request);
  };
}

/** Returns the names of a field's path, joined by dots. */
function pathOf(path: Path): string {
  return path.flatMap((step) => ("name" in step ? step.name : [])).join(".");
}

/** Says what a field accepts, if the validator would show its rule as a pattern or as numbers. */
function acceptedAt(path: Path): string | undefined {
  const field = path.findLast((step) => step.kind === "field");
  if (field === undefined) return undefined;
  const { type } = getOption(field, fieldOption);
  const isItem = path.at(-1) !== field;
  const rules = type.case === "repeated" && isItem ? type.value.items?.type : type;
  switch (rules?.case) {
    case "string":
      return PATTERNS[rules.value.pattern];
    case "int32":
      return rules.value.in.join(", ");
    case "enum": {
      const { in: accepted } = rules.value;
      const isAccepted = (value: number) => accepted.length === 0 || accepted.includes(value);
      return field.enum && enumNames(field.enum, isAccepted);
    }
    default:
      return undefined;
  }
}
