package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// row is one line of the table.
type row struct {
	command
	label string
	runs  runs
	aims  []aim

	note, why string // instead of figures
}

// aim says what of a row was to be reached and whether it was.
type aim func(*row) string

func met(ok bool) string {
	if ok {
		return "met"
	}
	return "missed"
}

// ratioTo compares the wall times of two rows. A limit of 0 is no aim.
func ratioTo(base *row, limit float64) aim {
	return func(r *row) string {
		ratio := r.runs.best().Wall.Seconds() / base.runs.best().Wall.Seconds()
		found := fmt.Sprintf("%.2fx %s", ratio, base.name)
		if limit == 0 {
			return found
		}
		return fmt.Sprintf("%s (aim %.1fx: %s)", found, limit, met(ratio <= limit))
	}
}

// cpuRatioTo compares the processor times of two rows, which depend less on what else the machine
// does.
func cpuRatioTo(base *row) aim {
	return func(r *row) string {
		return fmt.Sprintf("%.2fx its CPU", r.runs.best().CPU.Seconds()/base.runs.best().CPU.Seconds())
	}
}

func peakUnder(limit int64) aim {
	return func(r *row) string {
		return fmt.Sprintf("peak %s (aim %s: %s)", megabytes(r.runs.best().Peak), megabytes(limit),
			met(r.runs.best().Peak < limit))
	}
}

func wallUnder(limit time.Duration) aim {
	return func(r *row) string {
		return fmt.Sprintf("%s (aim %s: %s)", seconds(r.runs.best().Wall), limit, met(r.runs.best().Wall < limit))
	}
}

// moreThan compares with the same command nearer to the cluster.
func moreThan(base *row, limit time.Duration) aim {
	return func(r *row) string {
		more := r.runs.best().Wall - base.runs.best().Wall
		return fmt.Sprintf("%s more than near (aim %s: %s)", seconds(more), limit, met(more < limit))
	}
}

// printTable prints the best of each row's runs, and the median of the wall times to tell how far
// to trust it.
func printTable(out io.Writer, rows []*row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WHAT\tWALL\tMEDIAN\tCPU\tPEAK\tAGAINST")
	for _, r := range rows {
		switch {
		case r.note != "":
			fmt.Fprintf(w, "%s\t%s\t\t\t\t%s\n", r.label, r.note, r.why)
		case len(r.runs) > 0:
			best := r.runs.best()
			found := make([]string, len(r.aims))
			for i, aim := range r.aims {
				found[i] = aim(r)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.label, seconds(best.Wall), seconds(r.runs.median()), seconds(best.CPU),
				megabytes(best.Peak), strings.Join(found, "; "))
		}
	}
	return w.Flush()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2fs", d.Seconds()) }

func megabytes(n int64) string {
	if n == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}
