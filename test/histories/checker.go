// Reads operations on feeds, one JSON object a line, and prints for each account whether they are linearizable.
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

// A client's request and its answer. Return is absent if no answer came.
type operation struct {
	Account string   `json:"account"`
	Client  int      `json:"client"`
	Kind    string   `json:"kind"`
	Record  string   `json:"record"`
	Page    []string `json:"page"`
	// The recorded-at time in the answer to an add.
	RecordedAt int64  `json:"recordedAt"`
	Call       int64  `json:"call"`
	Return     *int64 `json:"return"`
}

const (
	pageLength = 100
	never      = int64(1) << 62
	within     = 2 * time.Minute
)

// The newest record of a feed, and the rest, which several versions of the feed share.
type feed struct {
	record     string
	recordedAt int64
	older      *feed
}

// Applies an operation to a feed, and returns whether its answer is possible. The repetitions of a write are one operation.
func step(state, input, _ any) (bool, any) {
	newest, op := state.(*feed), input.(operation)
	switch op.Kind {
	case "add":
		// The order of a feed is that of recorded_at, which strictly increases.
		at := op.RecordedAt
		if newest != nil && at == 0 {
			at = newest.recordedAt
		} else if newest != nil && at <= newest.recordedAt {
			return false, state
		}
		return true, &feed{op.Record, at, newest}
	case "remove":
		return true, without(newest, op.Record)
	default:
		one := newest
		for _, record := range op.Page {
			if one == nil || one.record != record {
				return false, state
			}
			one = one.older
		}
		return one == nil || len(op.Page) == pageLength, state
	}
}

func without(newest *feed, record string) *feed {
	var newer []*feed
	one := newest
	for ; one != nil && one.record != record; one = one.older {
		newer = append(newer, one)
	}
	if one == nil {
		return newest
	}
	rest := one.older
	for _, kept := range slices.Backward(newer) {
		rest = &feed{kept.record, kept.recordedAt, rest}
	}
	return rest
}

func isSame(one, other *feed) bool {
	for one != other {
		if one == nil || other == nil || one.record != other.record {
			return false
		}
		one, other = one.older, other.older
	}
	return true
}

func main() {
	model := porcupine.Model{
		Init:  func() any { return (*feed)(nil) },
		Step:  step,
		Equal: func(one, other any) bool { return isSame(one.(*feed), other.(*feed)) },
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
	if err := lines.Err(); err != nil {
		panic(err)
	}
	for account, history := range histories {
		result := porcupine.CheckOperationsTimeout(model, history, within)
		fmt.Printf("%s %s\n", account, result)
	}
}
