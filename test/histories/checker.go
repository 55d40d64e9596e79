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
	within     = 2 * time.Minute
)

var never = int64(1) << 62

// The newest record of a feed, and the rest, which several versions of the feed share.
type feed struct {
	record     string
	recordedAt int64
	older      *feed
}

// Gives each unanswered write an end: the end of the first read that shows the write. Leaves out a write that no read
// can show: it may come last, where nothing depends on it. Otherwise Porcupine would try each such write at each place.
func bounded(history []operation) []operation {
	added := map[string]operation{}
	for _, op := range history {
		if op.Kind == "add" && op.Return != nil {
			added[op.Record] = op
		}
	}
	var kept []operation
	for _, op := range history {
		if op.Return == nil {
			op.Return = firstShown(op, history, added)
		}
		if op.Return != nil {
			kept = append(kept, op)
		}
	}
	return kept
}

// Returns the end of the first read that certainly shows a write. Returns `never` if some read may show it, and nil if
// none may.
func firstShown(write operation, history []operation, added map[string]operation) *int64 {
	var first *int64
	for _, read := range history {
		if read.Kind != "read" || *read.Return <= write.Call || first != nil && *read.Return >= *first {
			continue
		}
		isThere := slices.Contains(read.Page, write.Record)
		if write.Kind == "add" {
			if isThere {
				first = read.Return
			}
			continue
		}
		add, oldest, isKnown := added[write.Record], operation{}, true
		if len(read.Page) == pageLength {
			oldest, isKnown = added[read.Page[pageLength-1]]
		}
		if isThere || isKnown && oldest.RecordedAt > add.RecordedAt {
			continue
		}
		// Only a read that began after the add surely shows the removal: an earlier one may lack a record not yet added.
		if isKnown && read.Call >= *add.Return {
			first = read.Return
		} else if first == nil {
			first = &never
		}
	}
	return first
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
	histories := map[string][]operation{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var op operation
		if err := json.Unmarshal(lines.Bytes(), &op); err != nil {
			panic(err)
		}
		histories[op.Account] = append(histories[op.Account], op)
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
	for account, history := range histories {
		var operations []porcupine.Operation
		for _, op := range bounded(history) {
			operations = append(operations, porcupine.Operation{
				ClientId: op.Client, Input: op, Call: op.Call, Return: *op.Return,
			})
		}
		result := porcupine.CheckOperationsTimeout(model, operations, within)
		fmt.Printf("%s %s\n", account, result)
	}
}
