package script

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// escape stands for the character that a color begins with, which no reader of a script would see.
const escape = "␛"

// age is what every age in a transcript is: as if all had happened at once, a while ago.
const age = "12m"

// hash is that of every pod template, which another version of Kubernetes has another of.
const hash = "web-5d79f54576"

var (
	podNames   = regexp.MustCompile(`(-[0-9a-f]{8,10}-)([bcdfghjklmnpqrstvwxz2456789]{5})\b`)
	exactAge   = regexp.MustCompile(`^(\d+[smhdy])+$`)
	tableHead  = regexp.MustCompile(`^[A-Z][A-Z-]*( {2,}[A-Z][A-Z-]*)+ *$`)
	events     = regexp.MustCompile(`(?m)(?:^\S+ ".*\n)+`)
	subject    = regexp.MustCompile(`^\S+ "[^"]*"`)
	digests    = regexp.MustCompile(`sha256:[0-9a-f]{64}`)
	lasting    = regexp.MustCompile(`\bis (True|False|Unknown) for \d+ (?:s|min)\b`)
	others     = regexp.MustCompile(`and \d+ more: you may not list`) // of so many types as the server's version has
	hashes     = regexp.MustCompile(`\bweb-[456789bcdf]{8,10}\b`)
	columnHead = regexp.MustCompile(`[A-Z][A-Z-]*`)
	colors     = regexp.MustCompile(escape + `\[[0-9;]*m`)
)

// standIns replaces what differs from run to run. Names keep their length, tables are laid out
// anew, and consecutive lines about objects, as in "pod "a" deleted", are sorted by the object:
// requests and watches are parallel.
func standIns(text string) string {
	text = cluster.ReplaceAllString(text, "context prod, server https://192.0.2.7:6443, ")
	text = inOrder(text, podNames,
		func(n int, match []string) string { return match[1] + fmt.Sprintf("%c4xk%d", "bcdfghjklm"[n%10], n%10) })
	text = inOrder(text, uids, func(n int, _ []string) string {
		return fmt.Sprintf("%08x-0000-4000-8000-000000000000", n+1)
	})
	text = inOrder(text, digests, func(n int, _ []string) string {
		return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte{byte(n)}))
	})
	text = events.ReplaceAllStringFunc(text, func(lines string) string {
		of := func(a, b string) int { return strings.Compare(subject.FindString(a), subject.FindString(b)) }
		return strings.Join(slices.SortedStableFunc(strings.Lines(lines), of), "")
	})
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if tableHead.MatchString(lines[i]) {
			i = relay(lines, i)
		}
	}
	text = hashes.ReplaceAllString(since.ReplaceAllString(strings.Join(lines, "\n"), "("+age+")"), hash)
	text = others.ReplaceAllString(text, "and 25 more: you may not list")
	return lasting.ReplaceAllString(ago.ReplaceAllString(text, "12 min ago"), "is ${1} for 12 min")
}

// inOrder replaces what a pattern finds by what stands for it: the n-th that is found for the n-th,
// wherever it is.
func inOrder(text string, pattern *regexp.Regexp, standIn func(n int, match []string) string) string {
	seen := map[string]string{}
	return pattern.ReplaceAllStringFunc(text, func(found string) string {
		if _, ok := seen[found]; !ok {
			seen[found] = standIn(len(seen), pattern.FindStringSubmatch(found))
		}
		return seen[found]
	})
}

// relay replaces the ages in a table that begins at a line, makes its columns as wide as they have
// to be, and returns its last line.
func relay(lines []string, first int) int {
	var starts []int
	for _, at := range columnHead.FindAllStringIndex(lines[first], -1) {
		starts = append(starts, at[0])
	}
	var rows [][]string
	widths := make([]int, len(starts))
	last := first
	for ; last < len(lines); last++ {
		row, ok := cells(lines[last], starts)
		if !ok {
			break
		}
		rows = append(rows, row)
		for i, cell := range row {
			row[i] = hashes.ReplaceAllString(since.ReplaceAllString(cell, "("+age+")"), hash)
			if rows[0][i] == "AGE" {
				row[i] = exactAge.ReplaceAllString(cell, age)
			}
			widths[i] = max(widths[i], width(row[i]))
		}
	}
	for i, row := range rows {
		var b strings.Builder
		for j, cell := range row {
			b.WriteString(cell + strings.Repeat(" ", widths[j]-width(cell)+3))
		}
		lines[first+i] = strings.TrimRight(b.String(), " ")
	}
	return last - 1
}

// cells cuts a line where columns start. It is no row if a cell is empty, or there is no space in
// front of one.
func cells(line string, starts []int) ([]string, bool) {
	columns := columnsOf(line)
	var row []string
	for i, start := range starts {
		end := len(columns)
		if i+1 < len(starts) {
			end = min(end, starts[i+1])
		}
		if end <= start || start > 0 && !strings.HasSuffix(columns[start-1], " ") {
			return nil, false
		}
		cell := strings.TrimRight(strings.Join(columns[start:end], ""), " ")
		if cell == "" {
			return nil, false
		}
		row = append(row, cell)
	}
	return row, true
}

// columnsOf cuts a line into what is in each column of a terminal: a character, with the colors
// that begin before it. Those that end a line belong to its last one.
func columnsOf(line string) []string {
	var columns []string
	add := func(before, text string) {
		for i, r := range []rune(text) {
			if i > 0 {
				before = ""
			}
			columns = append(columns, before+string(r))
		}
	}
	before, from := "", 0
	for _, at := range colors.FindAllStringIndex(line, -1) {
		if at[0] > from {
			add(before, line[from:at[0]])
			before = ""
		}
		before, from = before+line[at[0]:at[1]], at[1]
	}
	if from < len(line) {
		add(before, line[from:])
	} else if len(columns) > 0 {
		columns[len(columns)-1] += before
	}
	return columns
}

// width is how many columns of a terminal a text takes.
func width(text string) int { return utf8.RuneCountInString(colors.ReplaceAllString(text, "")) }
