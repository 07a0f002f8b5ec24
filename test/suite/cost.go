package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// The table of costs is between these two lines of its file.
const (
	tableBegins = "<!-- costs -->\n"
	tableEnds   = "<!-- end of costs -->\n"
)

// cost is what a target cost.
type cost struct {
	target          string
	wall, processor time.Duration
}

// String says it in a sentence.
func (c cost) String() string {
	return fmt.Sprintf("make %s took %s, and %s of processor time on %d cores.", c.target, c.wall.Round(time.Second),
		c.processor.Round(time.Second), runtime.NumCPU())
}

// row is the target's row of the table, and key what it begins with.
func (c cost) row() string {
	return fmt.Sprintf("%s %s | %s | %d |\n", c.key(), c.wall.Round(time.Second), c.processor.Round(time.Second),
		runtime.NumCPU())
}

func (c cost) key() string { return "| `make " + c.target + "` |" }

// record replaces the target's row in the table of a file, or adds it; rows are sorted.
func (c cost) record(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("recording what make %s costs: %w", c.target, err)
	}
	changed, err := c.in(string(text))
	if err != nil {
		return fmt.Errorf("recording what make %s costs in %s: %w", c.target, file, err)
	}
	return os.WriteFile(file, []byte(changed), 0o644)
}

// in returns a text with the target's row in its table.
func (c cost) in(text string) (string, error) {
	before, rest, begins := strings.Cut(text, tableBegins)
	table, after, ends := strings.Cut(rest, tableEnds)
	lines := slices.Collect(strings.Lines(table))
	if !begins || !ends || len(lines) < 2 {
		return "", fmt.Errorf("there is no table between %q and %q", strings.TrimSpace(tableBegins),
			strings.TrimSpace(tableEnds))
	}
	rows := slices.DeleteFunc(lines[2:], func(line string) bool { return strings.HasPrefix(line, c.key()) })
	rows = append(rows, c.row())
	slices.Sort(rows)
	return before + tableBegins + strings.Join(append(lines[:2], rows...), "") + tableEnds + after, nil
}
