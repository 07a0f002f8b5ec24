package randomcluster

import "flag"

var graphs = flag.Int("graphs", 12, "number of random clusters that each test makes; make test-long makes many")

// Graphs is how many random clusters a test is to make: those of its first seeds. A test binary that imports this package has the flag -graphs.
func Graphs() int { return *graphs }
