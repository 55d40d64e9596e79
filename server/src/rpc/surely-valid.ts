import {
  create,
  type DescField,
  type DescMessage,
  type DescOneof,
  getOption,
  type Message,
} from "@bufbuild/protobuf";
import { type ReflectList, type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { type Duration, FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import {
  type FieldRules,
  FieldRulesSchema,
  field as fieldOption,
  MessageRulesSchema,
  message as messageOption,
  oneof as oneofOption,
  type Rule,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

/** Returns true only if a value certainly keeps its rules. */
type Check = (value: never) => boolean;
type Num = number | bigint;

const NO_RULES = create(FieldRulesSchema);
/** Rules that `valueCheck` checks, because they need the field's description. */
const CHECKED_ELSEWHERE = new Set(["items", "defined_only"]);
const NANOS = 1_000_000_000;

const surely: Check = () => true;
/** The check of rules that this file does not know. */
const perhaps: Check = () => false;

const ofNumbers = {
  gt: (limit: Num) => (value: Num) => value > limit,
  gte: (limit: Num) => (value: Num) => value >= limit,
  lte: (limit: Num) => (value: Num) => value <= limit,
};

/** The checks of the known rules, by the field's type and the rule's name in `buf.validate`. */
const KNOWN: Readonly<Record<string, Readonly<Record<string, (limit: never) => Check>>>> = {
  string: {
    // A character takes one or two UTF-16 code units, so `2 * min - 1` units hold at least `min` characters.
    min_len: (min: bigint) => (value: string) => value.length >= 2 * Number(min) - 1,
    max_len: (max: bigint) => (value: string) => value.length <= max,
    pattern: patternCheck,
  },
  bytes: { max_len: (max: bigint) => (value: Uint8Array) => value.length <= max },
  enum: {
    in: isIn,
    not_in(none: ReflectList) {
      const isOneOf = isIn(none);
      return (value) => !isOneOf(value);
    },
  },
  int32: ofNumbers,
  int64: ofNumbers,
  duration: {
    gte: (min: ReflectMessage) => (value: Duration) => isInOrder(min.message as Duration, value),
    lte: (max: ReflectMessage) => (value: Duration) => isInOrder(value, max.message as Duration),
  },
  repeated: {
    min_items: (min: bigint) => (value: unknown[]) => value.length >= min,
    max_items: (max: bigint) => (value: unknown[]) => value.length <= max,
    unique: () => (value: unknown[]) => new Set(value).size === value.length,
  },
};

/**
 * Creates a check that recognizes most valid messages without the validator, which builds a path for every field and
 * evaluates CEL. True is certain. On false the validator decides: the message breaks a rule, or has a rule that this
 * file does not know.
 */
export function createSurelyValid(): (schema: DescMessage, message: Message) => boolean {
  const checkOf = new Map<DescMessage, Check>();

  function messageCheck(schema: DescMessage): Check {
    const created = checkOf.get(schema);
    if (created) return created;
    // Where a type contains itself, the inner check is `perhaps`, because the type's own check is not created yet.
    checkOf.set(schema, perhaps);
    const ofMessage = reflect(MessageRulesSchema, getOption(schema, messageOption));
    const check = all([
      ...setFieldsOf(ofMessage).map(() => perhaps),
      ...schema.oneofs.map(oneofCheck),
      ...schema.fields.map(fieldCheck),
    ]);
    checkOf.set(schema, check);
    return check;
  }

  function fieldCheck(field: DescField): Check {
    const rules = getOption(field, fieldOption);
    const { required } = rules;
    const check = valueCheck(field, rules);
    if (check === surely && !required) return surely;
    const isAlwaysThere = field.presence === FeatureSet_FieldPresence.IMPLICIT;
    const read = readerOf(field);
    return (message: Fields) => {
      const value = read(message);
      if (value === undefined) return !required;
      if (required && isAlwaysThere && isZero(value)) return false;
      return check(value as never);
    };
  }

  /** Returns the check of a field's value. With `isItem`, checks one item of a list. */
  function valueCheck(field: DescField, rules: FieldRules, isItem = false): Check {
    const own = rulesCheck(rules);
    if (field.fieldKind === "map") return perhaps;
    if (field.fieldKind === "list" && !isItem) {
      const itemRules = rules.type.case === "repeated" ? rules.type.value.items : undefined;
      const item = valueCheck(field, itemRules ?? NO_RULES, true);
      return all([own, item === surely ? surely : (value: never[]) => value.every(item)]);
    }
    if (field.message) return all([own, messageCheck(field.message)]);
    if (!field.enum || rules.type.case !== "enum" || !rules.type.value.definedOnly) return own;
    const defined = new Set(field.enum.values.map(({ number }) => number));
    return all([own, (value: number) => defined.has(value)]);
  }

  return (schema, message) => messageCheck(schema)(message as never);
}

/** Joins checks. Returns `surely` if there is nothing to check. */
function all(checks: readonly Check[]): Check {
  const needed = checks.filter((check) => check !== surely);
  const [first = surely] = needed;
  if (needed.length <= 1) return first;
  return (value) => needed.every((check) => check(value));
}

function setFieldsOf(message: ReflectMessage): DescField[] {
  return message.fields.filter((field) => message.isSet(field));
}

/** Returns the check of a field's rules, except those for its items and for the values of its enum. */
function rulesCheck(rules: FieldRules): Check {
  const ofField = reflect(FieldRulesSchema, rules);
  return all(
    setFieldsOf(ofField).map((kind) => {
      if (kind.name === "required") return surely;
      if (kind.name === "cel") return all(rules.cel.map(celCheck));
      const [checks, typed] = [KNOWN[kind.name], ofField.get(kind)];
      if (!checks || kind.fieldKind !== "message") return perhaps;
      const ofType = typed as ReflectMessage;
      return all(
        setFieldsOf(ofType).map((rule) => {
          if (CHECKED_ELSEWHERE.has(rule.name)) return surely;
          return checks[rule.name]?.(ofType.get(rule) as never) ?? perhaps;
        }),
      );
    }),
  );
}

/** Knows only CEL of the form `this == 'text'`. */
function celCheck({ expression }: Rule): Check {
  const only = /^this == '([^'\\]*)'$/.exec(expression)?.[1];
  return only === undefined ? perhaps : (value: string) => value === only;
}

/** Knows only patterns without escapes and groups, which RE2 and JavaScript read alike. */
function patternCheck(pattern: string): Check {
  if (/[\\(]/.test(pattern)) return perhaps;
  const expression = new RegExp(pattern, "u");
  return (value: string) => expression.test(value);
}

function isIn(some: ReflectList): Check {
  const values = new Set(some);
  return (value) => values.has(value);
}

/** Whether one duration is at most another. False if either is not in its normal form. */
function isInOrder(one: Duration, other: Duration): boolean {
  const areNormal = [one, other].every(({ nanos }) => nanos >= 0 && nanos < NANOS);
  const { seconds } = other;
  const isBefore = one.seconds < seconds;
  return areNormal && (isBefore || (one.seconds === seconds && one.nanos <= other.nanos));
}

function oneofCheck(oneof: DescOneof): Check {
  if (!getOption(oneof, oneofOption).required) return surely;
  return (message: Fields) => caseOf(message, oneof) !== undefined;
}

/** A message as its fields by local name; a oneof has its case and value. */
type Fields = Readonly<Record<string, unknown>>;
type Chosen = { readonly case?: string; readonly value?: unknown };

function caseOf(message: Fields, { localName }: DescOneof): string | undefined {
  return (message[localName] as Chosen).case;
}

/**
 * Returns a function that reads a field. It returns `undefined` if the field is not set and its presence is tracked.
 */
function readerOf({ localName, oneof }: DescField): (message: Fields) => unknown {
  if (!oneof) return (message) => message[localName];
  return (message) =>
    caseOf(message, oneof) === localName ? (message[oneof.localName] as Chosen).value : undefined;
}

function isZero(value: unknown): boolean {
  const isEmpty = typeof value === "object" && (value as { length?: number }).length === 0;
  return isEmpty || value === 0 || value === 0n || value === "" || value === false;
}
