// Package linear measures whether the cost of an operation is linear: it runs the operation in two
// sizes, one four times the other. `make bench` prints the ratio of the two.
package linear

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Times is how many times as large the larger size is.
const Times = 4

// Metric is the CPU time of one operation in nanoseconds, that of the garbage collector included.
// It depends less than the wall time on what else the machine does.
const Metric = "cpu-ns/op"

// Bench runs what prepare returns, for n and for Times n, as two benchmarks.
func Bench(b *testing.B, n int, prepare func(b *testing.B, n int) func()) {
	b.Helper()
	for _, size := range []int{n, Times * n} {
		b.Run(fmt.Sprintf("n=%d", size), func(b *testing.B) {
			do := prepare(b, size)
			do() // what is made once and kept is no part of it
			runtime.GC()
			before := Spent()
			for b.Loop() {
				do()
			}
			b.ReportMetric(float64(Spent()-before)/float64(b.N), Metric)
		})
	}
}

// Spent is the CPU time that the process has used.
func Spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
