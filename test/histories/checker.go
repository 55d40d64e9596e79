// Reads operations on feeds, one JSON object a line, and says whether each account's are linearizable.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// What a client asked, and what it was answered. Return is absent where it never knew.
type operation struct {
	Account string   `json:"account"`
	Client  int      `json:"client"`
	Kind    string   `json:"kind"`
	Record  string   `json:"record"`
	Page    []string `json:"page"`
	Call    int64    `json:"call"`
	Return  *int64   `json:"return"`
}

const (
	pageLength = 100
	never      = int64(1) << 62
	within     = 2 * time.Minute
)

// A feed is its records in order. An add may be repeated, as may a removal: both are known by the record.
func step(state, input, _ any) (bool, any) {
	feed, op := state.([]string), input.(operation)
	switch op.Kind {
	case "add":
		return true, append(slices.Clip(feed), op.Record)
	case "remove":
		return true, slices.DeleteFunc(slices.Clone(feed), func(one string) bool { return one == op.Record })
	default:
		// The newest first.
		newest := slices.Clone(feed[max(0, len(feed)-pageLength):])
		slices.Reverse(newest)
		return slices.Equal(newest, op.Page), state
	}
}

func main() {
	model := porcupine.Model{
		Init: func() any { return []string{} },
		Step: step,
		Equal: func(one, other any) bool {
			return slices.Equal(one.([]string), other.([]string))
		},
	}
	histories := map[string][]porcupine.Operation{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var op operation
		if err := json.Unmarshal(lines.Bytes(), &op); err != nil {
			panic(err)
		}
		end := never
		if op.Return != nil {
			end = *op.Return
		}
		histories[op.Account] = append(histories[op.Account], porcupine.Operation{
			ClientId: op.Client, Input: op, Call: op.Call, Return: end,
		})
	}
	for account, history := range histories {
		result := porcupine.CheckOperationsTimeout(model, history, within)
		fmt.Printf("%s %s\n", account, result)
	}
}
