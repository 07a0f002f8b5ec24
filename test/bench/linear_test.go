package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGrowth(t *testing.T) {
	const printed = `goos: linux
BenchmarkLinearPlan/Roots/n=10000-2         	       5	  15000000 ns/op	  20000000 cpu-ns/op
BenchmarkLinearPlan/Roots/n=40000-2         	       5	 900000000 ns/op	  84000000 cpu-ns/op
BenchmarkLinearPlan/Roots/n=10000-2         	       5	  15000000 ns/op	  23000000 cpu-ns/op
BenchmarkLinearPlan/Roots/n=40000-2         	       5	 900000000 ns/op	  90000000 cpu-ns/op
BenchmarkLinearDraw/n=100   	       5	   1000000 ns/op	     128 B/op
BenchmarkLinearDraw/n=400   	       5	  16000000 ns/op	     512 B/op
BenchmarkLinearOdd/n=100-2   	       5	   1000000 ns/op
PASS
ok  	example.com/pkg/plan	1.0s
`
	var other, out strings.Builder
	if err := printGrowth(&out, readGrowth(strings.NewReader(printed), &other)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"WHAT N CPU 4N CPU RATIO (aim 5)",
		"Plan/Roots 10000 20.0 ms 40000 84.0 ms 4.2 met",
		"Draw 100 1.0 ms 400 16.0 ms 16.0 missed",
		"Odd 100 1.0 ms not two sizes",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(other.String(), "PASS") || strings.Contains(other.String(), "Benchmark") {
		t.Errorf("left over: %s", other.String())
	}
}
