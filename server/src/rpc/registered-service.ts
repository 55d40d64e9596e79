import type { DescMethod, DescService } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ScopeFamily } from "../admission/session-scope.ts";
import { Access, isOpenToAnybody } from "./access.ts";

/** Of a service with a call that anybody may make. */
const MAX_OPEN_MESSAGE_BYTES = 4096;

/** A service, what answers its calls, by the local names of its methods, and under which rules. */
export type RegisteredService = {
  readonly service: DescService;
  readonly implementation: Readonly<Record<string, unknown>>;
  /** Whether the field rules of its protos are held before it is called. */
  readonly isValidated: boolean;
  /** The part of the dashboard that its calls are. */
  readonly dashboard: ScopeFamily | undefined;
  /** Returns who may make a call of it. */
  accessOf(method: DescMethod): Access;
};

type Rules<Service extends DescService> = {
  /** Who may make its calls, */
  readonly access: Access;
  /** and who some of them. */
  readonly except?: { readonly [Method in keyof Service["method"]]?: Access };
  /** The part of the dashboard that its calls are: a session may make them that has its scope, to read or to write. */
  readonly dashboard?: ScopeFamily;
  /** False where the service checks messages itself: faster, in its own words, or row by row. */
  readonly isValidated?: boolean;
};

/** Registers a service: what answers its calls, who may make them, and whether its field rules are held. */
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

/** Whether browsers may make calls of a service. */
export function isForBrowsers({ service, dashboard, accessOf }: RegisteredService): boolean {
  const ofBrowsers: readonly Access[] = [Access.Browser, Access.Session];
  return (
    dashboard !== undefined || service.methods.some((one) => ofBrowsers.includes(accessOf(one)))
  );
}

/** Returns how long a message of a service may be: 4 KiB where anybody may make one of its calls, else `otherwise`. */
export function maxBytesOf({ service, accessOf }: RegisteredService, otherwise: number): number {
  const isOpen = service.methods.some((method) => isOpenToAnybody(accessOf(method)));
  return isOpen ? MAX_OPEN_MESSAGE_BYTES : otherwise;
}

/** Finds what was registered of a service; throws when it was not, which is a bug. */
export type FindService = (service: DescService) => RegisteredService;

/** Creates the look-up of these services. */
export function createFindService(services: readonly RegisteredService[]): FindService {
  const byName = new Map(services.map((one) => [one.service.typeName, one]));
  return ({ typeName }) => {
    const found = byName.get(typeName);
    if (found === undefined) throw new Error(`${typeName} is not registered`);
    return found;
  };
}
