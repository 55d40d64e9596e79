import type { DescMethod, DescService } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ScopeFamily } from "../admission/session-scope.ts";
import { Access, isOpenToAnybody } from "./access.ts";

/** Maximum bytes of a message to a service with a call that needs no credential. */
const MAX_OPEN_MESSAGE_BYTES = 4096;

/** A service, its implementation by the local names of its methods, and its rules. */
export type RegisteredService = {
  readonly service: DescService;
  readonly implementation: Readonly<Record<string, unknown>>;
  /** Whether the field rules of its protos are checked before each call. */
  readonly isValidated: boolean;
  readonly dashboard: ScopeFamily | undefined;
  accessOf(method: DescMethod): Access;
};

type Rules<Service extends DescService> = {
  readonly access: Access;
  /** The access to single methods that differ from `access`. */
  readonly except?: { readonly [Method in keyof Service["method"]]?: Access };
  /** The part of the dashboard that the calls belong to. A session needs that part's scope, to read or to write. */
  readonly dashboard?: ScopeFamily;
  /** False if the service checks messages itself: faster, in its own words, or row by row. */
  readonly isValidated?: boolean;
};

/** Registers a service with its rules: the access to its calls, and whether its field rules are checked. */
export function register<Service extends DescService>(
  service: Service,
  implementation: ServiceImpl<Service>,
  { access, except = {}, dashboard, isValidated = true }: Rules<Service>,
): RegisteredService {
  const exceptions: Readonly<Record<string, Access | undefined>> = except;
  return {
    ...{ service, implementation, isValidated, dashboard },
    accessOf: ({ localName }) => exceptions[localName] ?? access,
  };
}

/** Whether browsers may make at least one call of a service. */
export function isForBrowsers({ service, dashboard, accessOf }: RegisteredService): boolean {
  const ofBrowsers: readonly Access[] = [Access.Browser, Access.Session];
  return (
    dashboard !== undefined || service.methods.some((one) => ofBrowsers.includes(accessOf(one)))
  );
}

/** Returns the most bytes of a service's message: 4 KiB if any call needs no credential, else `otherwise`. */
export function maxBytesOf({ service, accessOf }: RegisteredService, otherwise: number): number {
  const isOpen = service.methods.some((method) => isOpenToAnybody(accessOf(method)));
  return isOpen ? MAX_OPEN_MESSAGE_BYTES : otherwise;
}

/** Finds a registered service. Throws if there is none, which is a bug. */
export type FindService = (service: DescService) => RegisteredService;

export function createFindService(services: readonly RegisteredService[]): FindService {
  const byName = new Map(services.map((one) => [one.service.typeName, one]));
  return ({ typeName }) => {
    const found = byName.get(typeName);
    if (found === undefined) throw new Error(`${typeName} is not registered`);
    return found;
  };
}
