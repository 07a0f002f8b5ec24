package randomcluster

import "flag"

const byDay = 12

var graphs = flag.Int("graphs", byDay, "number of random clusters that each test makes; make test-long makes many")

// Graphs is how many random clusters a test is to make: those of its first seeds. A test binary
// that imports this package has the flag -graphs.
func Graphs() int { return *graphs }

// Few is a third of Graphs, for a test that takes seconds for each of them, and all of them where
// the flag is given.
func Few() int {
	if *graphs == byDay {
		return byDay / 3
	}
	return *graphs
}
