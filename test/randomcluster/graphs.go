package randomcluster

import "flag"

const byDay, fewByDay = 12, 4

var graphs = flag.Int("graphs", byDay, "number of random clusters that each test makes; make test-long makes many")

// Graphs is how many random clusters a test is to make: those of its first seeds. A test binary
// that imports this package has the flag -graphs.
func Graphs() int { return *graphs }

// Few is less than Graphs, for a test that takes seconds for each of them, and all of them where the
// flag is given.
func Few() int {
	if *graphs == byDay {
		return fewByDay
	}
	return *graphs
}
