import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { useFolder } from "../../test/harness/use-started.ts";
import { openLogFile } from "./log-file.ts";

const folder = useFolder("log");
const read = (file: string) => readFileSync(file, "utf8");

it("keeps what was written before the close, and drops what comes later", () => {
  const log = openLogFile(join(folder, "closed.log"));
  log.write("before\n");
  log.close();
  log.write("after\n");
  log.flush();
  expect(read(log.path)).toBe("before\n");
});

it("keeps the last lines within its limit, in two files, across starts", () => {
  const path = join(folder, "limited.log");
  const line = (number: number) => `${String(number).padStart(99, ".")}\n`;
  for (const start of [0, 50]) {
    const log = openLogFile(path, 1_000);
    for (let number = start; number < start + 50; number += 1) {
      log.write(line(number));
      log.flush();
      expect(statSync(path).size).toBeLessThanOrEqual(1_000);
    }
    log.close();
  }
  const kept = Array.from({ length: 20 }, (_, index) => line(80 + index)).join("");
  expect(read(`${path}.1`) + read(path)).toBe(kept);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(existsSync(`${path}.2`)).toBe(false);
});

it("loses only lines when it cannot begin a new file", () => {
  const path = join(folder, "blocked.log");
  mkdirSync(`${path}.1/occupied`, { recursive: true });
  const told = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const log = openLogFile(path, 10);
  for (const line of ["01234567\n", "89\n"]) {
    log.write(line);
    log.flush();
  }
  log.close();
  expect(told.mock.calls).toMatchObject([[expect.stringContaining("loses lines")]]);
  told.mockRestore();
  expect(read(path)).toBe("01234567\n");
});

it("writes one text that is larger than its limit whole", () => {
  const path = join(folder, "one.log");
  const log = openLogFile(path, 10);
  log.write("0123456789ü\n");
  log.close();
  expect(read(path)).toBe("0123456789ü\n");
});

it("says that it loses lines when the disk takes a part of them", () => {
  const path = join(folder, "cut.log");
  const program = `import { openLogFile } from "./log-file.ts";
const log = openLogFile(process.argv[1]);
log.write("x".repeat(2_000));
log.close();`;
  const noWarning = "--disable-warning=ExperimentalWarning";
  const node = [process.execPath, noWarning, "--input-type=module", "-e", program, path];
  // `ulimit -f 1` limits a file to one block of 1,024 bytes.
  const command = ["-c", 'ulimit -f 1; exec "$@"', "bash", ...node];
  const { status, stderr } = spawnSync("bash", command, {
    ...{ cwd: import.meta.dirname, encoding: "utf8" },
  });
  expect(stderr).toBe(`${path} loses lines: EFBIG: file too large, write\n`);
  expect(status).toBe(0);
  expect(statSync(path).size).toBe(1_024);
});
