package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/kubectl-gc/kubectl-gc/test/linear"
)

// roleLinear runs the benchmarks that do the same in two sizes and prints how what they cost grows.
// It needs no control plane.
const roleLinear = "linear"

// mostGrowth is how many times as much four times as many objects may cost. A square would be
// sixteen times.
const mostGrowth = 5

// growth is what a benchmark costs in its first and its last size, in nanoseconds: the least of
// what was measured, since what else the machine does can only add.
type growth struct {
	name                 string
	smaller, larger      int
	smallerCost, atLarge float64
}

func runLinear(ctx context.Context, args []string) error {
	if len(args) == 0 {
		args = []string{"./pkg/..."}
	}
	say("running the benchmarks of %s in two sizes", strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, "go",
		append([]string{"test", "-run", "^$", "-bench", "^BenchmarkLinear", "-benchtime", "0.3s", "-count", "3", "-timeout",
			"60m"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("running the benchmarks: %w", err)
	}
	var other strings.Builder
	all := readGrowth(out, &other)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("running the benchmarks: %w\n%s", err, other.String())
	}
	return printGrowth(os.Stdout, all)
}

// size is the part of a benchmark's name that says how large it is, with what the testing package
// appends.
var size = regexp.MustCompile(`/n=(\d+)(-\d+)?$`)

// readGrowth reads what go test prints: name, iterations, and figures each with its unit. The lines
// that are about something else are copied.
func readGrowth(in io.Reader, other io.Writer) []*growth {
	var all []*growth
	byName := map[string]*growth{}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 4 || !size.MatchString(words[0]) {
			fmt.Fprintln(other, lines.Text())
			continue
		}
		match := size.FindStringSubmatch(words[0])
		n, _ := strconv.Atoi(match[1]) // which are digits
		costs := map[string]float64{}
		for i := 2; i+1 < len(words); i += 2 {
			costs[words[i+1]], _ = strconv.ParseFloat(words[i], 64)
		}
		cost, measured := costs[linear.Metric]
		if !measured {
			cost = costs["ns/op"]
		}
		name := strings.TrimPrefix(strings.TrimSuffix(words[0], match[0]), "BenchmarkLinear")
		g := byName[name]
		switch {
		case g == nil:
			g = &growth{name: name, smaller: n, smallerCost: cost}
			byName[name] = g
			all = append(all, g)
		case n == g.smaller:
			g.smallerCost = min(g.smallerCost, cost)
		case n == g.larger:
			g.atLarge = min(g.atLarge, cost)
		default:
			g.larger, g.atLarge = n, cost
		}
	}
	return all
}

// printGrowth prints the ratios.
func printGrowth(out io.Writer, all []*growth) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "WHAT\tN\tCPU\t4N\tCPU\tRATIO (aim %d)\n", mostGrowth)
	for _, g := range all {
		found := "met"
		if g.larger != linear.Times*g.smaller || g.smallerCost == 0 {
			fmt.Fprintf(w, "%s\t%d\t%s\t\t\tnot two sizes\n", g.name, g.smaller, milliseconds(g.smallerCost))
			continue
		}
		ratio := g.atLarge / g.smallerCost
		if ratio > mostGrowth {
			found = "missed"
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%s\t%.1f %s\n", g.name, g.smaller, milliseconds(g.smallerCost), g.larger,
			milliseconds(g.atLarge), ratio, found)
	}
	return w.Flush()
}

func milliseconds(ns float64) string { return fmt.Sprintf("%.1f ms", ns/1e6) }
