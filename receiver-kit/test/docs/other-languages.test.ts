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
/** The file with the cases. It is in the folder of the programs that read it. */
const CASES = "cases.json";

let go: string;
let php: Launch;
// Go and PHP are downloaded at the first run.
beforeAll(async () => {
  writeFileSync(path.join(folder, CASES), JSON.stringify(cases));
  for (const [block, code] of blocks) writeFileSync(path.join(folder, block), code);
  go = await findGo();
  php = await findPhp();
}, 600_000);

/** The time limit of the Go test. With an empty cache, Go compiles its standard library first. */
const GO_TEST_MS = 300_000;

const OLD_SECRET = `whsec_${"0".repeat(43)}=`;
const { vectors } = vectorsFile;
const good = vectors.find(({ reason }) => reason === null) ?? expect.unreachable();
const lower = Object.entries(good.headers).map(([name, value]) => [name.toLowerCase(), value]);
const delivered = { ...good, headers: Object.fromEntries(lower) };
/** The vectors, and a good delivery with no secret, an empty one, two during a rotation, and without headers. */
const cases = [
  ...vectors.map((vector) => ({ ...vector, secrets: [vector.secret] })),
  { ...delivered, secrets: [], reason: "unusable_secret" },
  { ...delivered, secrets: [""], reason: "unusable_secret" },
  { ...delivered, secrets: [OLD_SECRET, good.secret] },
  { ...delivered, secrets: [good.secret], headers: {}, reason: "malformed_timestamp" },
];
const EXPECTED = cases.map(({ reason }) => reason ?? "verified").join("\n");

/** Writes a program beside the document's functions, runs `command`, and returns its output. */
function outputOf(name: string, text: string, command: string, args: string[], env = process.env) {
  writeFileSync(path.join(folder, name), text);
  return execFileSync(command, args, { cwd: folder, encoding: "utf8", env });
}

it("has a Python function with the expected result for every vector", () => {
  const program = `import base64, json
from verify import verify
for v in json.load(open("${CASES}")):
    try:
        verify(base64.b64decode(v["body_base64"]), v["headers"], v["secrets"], v["now_seconds"])
        print("verified")
    except ValueError as error:
        print(error)
`;
  const output = outputOf("run.py", program, "python3", ["run.py"]);
  expect(output.trim()).toBe(EXPECTED);
});

it("has a PHP function with the expected result for every vector", () => {
  const program = `<?php
require 'verify.php';
foreach (json_decode(file_get_contents('${CASES}'), true) as $v) {
    $server = [];
    foreach ($v['headers'] as $name => $value) {
        $server['HTTP_' . strtoupper(str_replace('-', '_', $name))] = $value;
    }
    try {
        verify(base64_decode($v['body_base64']), $server, $v['secrets'], $v['now_seconds']);
        echo "verified\n";
    } catch (UnexpectedValueException $error) {
        echo $error->getMessage(), "\n";
    }
}
`;
  const output = outputOf("run.php", program, php.command, [...php.leading, "-n", "run.php"]);
  expect(output.trim()).toBe(EXPECTED);
});

it(
  "has a Go function that finds what every vector says",
  () => {
    writeFileSync(path.join(folder, "go.mod"), "module webhooks\n\ngo 1.21\n");
    const program = `package webhooks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
)

func TestCases(t *testing.T) {
	text, _ := os.ReadFile("${CASES}")
	var cases []struct {
		Secrets    []string
		Headers    map[string]string
		NowSeconds int64  \`json:"now_seconds"\`
		Body       []byte \`json:"body_base64"\`
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, v := range cases {
		header := http.Header{}
		for name, value := range v.Headers {
			header.Set(name, value)
		}
		if _, err := Verify(v.Body, header, v.Secrets, v.NowSeconds); err != nil {
			fmt.Println("=", err)
		} else {
			fmt.Println("= verified")
		}
	}
}
`;
    const env = { ...process.env, GOFLAGS: "-mod=mod" };
    const args = ["test", "-count=1", "-v", "./..."];
    const output = outputOf("verify_test.go", program, go, args, env);
    const found = Array.from(output.matchAll(/^= (.*)$/gm), ([, reason]) => reason);
    expect(found.join("\n")).toBe(EXPECTED);
  },
  GO_TEST_MS,
);
