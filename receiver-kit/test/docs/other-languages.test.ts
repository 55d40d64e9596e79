import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import type { Launch } from "../../../dev-stack/src/unpacked-root.ts";
import { useFolder } from "../../../test/harness/use-started.ts";
import vectorsFile from "../../vectors.json" with { type: "json" };
import { readCodeBlocks } from "./code-blocks.ts";
import { findPhp } from "./find-php.ts";
import { findGo } from "./go-toolchain.ts";

const blocks = readCodeBlocks("docs/other-languages.md");
const folder = useFolder("receiver-kit-languages");
const vectorsPath = path.resolve(import.meta.dirname, "../../vectors.json");

let go: string;
let php: Launch;
// Go and PHP are downloaded at the first run.
beforeAll(async () => {
  go = await findGo();
  php = await findPhp();
}, 600_000);

/** With an empty cache, Go compiles its standard library first. */
const GO_TEST_MS = 300_000;

/**
 * The results of the vectors, then of a good delivery in four cases: no secret, an empty one, two during a rotation, no
 * headers.
 */
const EXPECTED = [
  ...vectorsFile.vectors.map(({ reason }) => reason ?? "verified"),
  ...["unusable_secret", "unusable_secret", "verified", "malformed_timestamp"],
].join("\n");
const OLD_SECRET = `whsec_${"0".repeat(43)}=`;

it("has a Python function with the expected result for every vector", () => {
  writeFileSync(path.join(folder, "verify.py"), blocks.get("verify.py") ?? "");
  writeFileSync(
    path.join(folder, "run.py"),
    `import base64, json, sys
from verify import verify
def show(v, secrets, headers):
    try:
        verify(base64.b64decode(v["body_base64"]), headers, secrets, v["now_seconds"])
        print("verified")
    except ValueError as error:
        print(error)
vectors = json.load(open(sys.argv[1]))["vectors"]
for v in vectors: show(v, [v["secret"]], v["headers"])
good = next(v for v in vectors if v["reason"] is None)
lower = {name.lower(): value for name, value in good["headers"].items()}
for secrets in [], [""], ["${OLD_SECRET}", good["secret"]]: show(good, secrets, lower)
show(good, [good["secret"]], {})
`,
  );
  const output = execFileSync("python3", ["run.py", vectorsPath], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(output.trim()).toBe(EXPECTED);
});

it("has a PHP function with the expected result for every vector", () => {
  writeFileSync(path.join(folder, "verify.php"), blocks.get("verify.php") ?? "");
  writeFileSync(
    path.join(folder, "run.php"),
    `<?php
require 'verify.php';
function show(array $v, array $secrets, array $headers): void {
    $server = [];
    foreach ($headers as $name => $value) {
        $server['HTTP_' . strtoupper(str_replace('-', '_', $name))] = $value;
    }
    try {
        verify(base64_decode($v['body_base64']), $server, $secrets, $v['now_seconds']);
        echo "verified\n";
    } catch (UnexpectedValueException $error) {
        echo $error->getMessage(), "\n";
    }
}
$vectors = json_decode(file_get_contents($argv[1]), true)['vectors'];
foreach ($vectors as $v) show($v, [$v['secret']], $v['headers']);
[$good] = array_values(array_filter($vectors, fn ($v) => $v['reason'] === null));
foreach ([[], [''], ['${OLD_SECRET}', $good['secret']]] as $secrets) show($good, $secrets, $good['headers']);
show($good, [$good['secret']], []);
`,
  );
  const output = execFileSync(php.command, [...php.leading, "-n", "run.php", vectorsPath], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(output.trim()).toBe(EXPECTED);
});

it(
  "has a Go function that finds what every vector says",
  () => {
    writeFileSync(path.join(folder, "go.mod"), "module webhooks\n\ngo 1.21\n");
    writeFileSync(path.join(folder, "verify.go"), blocks.get("verify.go") ?? "");
    writeFileSync(
      path.join(folder, "verify_test.go"),
      `package webhooks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
)

func TestVectors(t *testing.T) {
	text, _ := os.ReadFile(os.Getenv("VECTORS"))
	var file struct {
		Vectors []struct {
			Reason     *string           \`json:"reason"\`
			Secret     string            \`json:"secret"\`
			NowSeconds int64             \`json:"now_seconds"\`
			Headers    map[string]string \`json:"headers"\`
			Body       []byte            \`json:"body_base64"\`
		} \`json:"vectors"\`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	good := 0
	show := func(place int, secrets []string, headers map[string]string) {
		v := file.Vectors[place]
		header := http.Header{}
		for name, value := range headers {
			header.Set(name, value)
		}
		if _, err := Verify(v.Body, header, secrets, v.NowSeconds); err != nil {
			fmt.Println("=", err)
		} else {
			fmt.Println("= verified")
		}
	}
	for place, v := range file.Vectors {
		show(place, []string{v.Secret}, v.Headers)
		if v.Reason == nil {
			good = place
		}
	}
	v := file.Vectors[good]
	for _, secrets := range [][]string{{}, {""}, {"${OLD_SECRET}", v.Secret}} {
		show(good, secrets, v.Headers)
	}
	show(good, []string{v.Secret}, map[string]string{})
}
`,
    );
    const output = execFileSync(go, ["test", "-count=1", "-v", "./..."], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, VECTORS: vectorsPath, GOFLAGS: "-mod=mod" },
    });
    const found = Array.from(output.matchAll(/^= (.*)$/gm), ([, reason]) => reason);
    expect(found.join("\n")).toBe(EXPECTED);
  },
  GO_TEST_MS,
);
