import { describe, expect, it } from "vitest";
import { shardServerOptions, vtgateOptions, vttabletOptions } from "./vitess-cluster-options.ts";

const ports = { http: 15_101, grpc: 16_101 };

describe("the processes of a Vitess cluster", () => {
  it("a vttablet beside a MySQL that is not its own, its range of one word though it begins with a dash", () => {
    const at = { alias: "zone1-0000000101", keyspace: "wide", shard: "-80", ports };
    const options = vttabletOptions("127.0.0.1:2379", {
      ...at,
      mysqlUrl: "mysql://u:p@10.0.0.1:3307/any",
    });
    expect(options).toEqual(
      expect.arrayContaining([
        "--unmanaged",
        "--init-shard=-80",
        "--topo-global-server-address=127.0.0.1:2379",
        "--grpc-port=16101",
        "--bind-address=127.0.0.1",
        "--grpc-bind-address=127.0.0.1",
      ]),
    );
    expect(options.join(" ")).toContain("--db-host 10.0.0.1 --db-port 3307");
  });

  it("a vtgate on loopback only, which holds requests while a shard changes", () => {
    const options = vtgateOptions("127.0.0.1:2379", { ...ports, mysql: 15_306 });
    expect(options).toEqual(
      expect.arrayContaining([
        "--enable-buffer",
        "--mysql-server-port=15306",
        "--mysql-server-bind-address=127.0.0.1",
      ]),
    );
  });

  it("a MySQL with what VReplication reads", () => {
    expect(shardServerOptions(7)).toEqual(
      expect.arrayContaining(["--log-bin=binlog", "--server-id=7", "--gtid-mode=ON"]),
    );
  });
});
