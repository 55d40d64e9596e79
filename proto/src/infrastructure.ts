// gRPC's standard services, generated from the protos in proto/vendor. Code that serves or calls health checks and
// reflection uses them.
export { Health, HealthCheckResponse_ServingStatus } from "./gen/grpc/health/v1/health_pb.ts";
export * as reflectionV1 from "./gen/grpc/reflection/v1/reflection_pb.ts";
export * as reflectionV1Alpha from "./gen/grpc/reflection/v1alpha/reflection_pb.ts";
