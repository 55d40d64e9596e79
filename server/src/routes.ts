import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";

/** A service and what answers its calls, by the local names of its methods. */
export type RegisteredService = {
  readonly service: DescService;
  readonly implementation: Readonly<Record<string, unknown>>;
};

/** Pairs a service with its implementation. */
export function register<Service extends DescService>(
  service: Service,
  implementation: ServiceImpl<Service>,
): RegisteredService {
  return { service, implementation };
}

/** Registers the services on a router of the wire. */
export function addRoutes(router: ConnectRouter, services: readonly RegisteredService[]): void {
  for (const { service, implementation } of services) {
    // `register` checked the implementation against its service.
    router.service(service, implementation as ServiceImpl<DescService>);
  }
}
