package testcluster

import (
	goflag "flag"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// overlapping is how many tests run at a time for each processor. They wait for a server most of
// their time; many more would make the server slow, and each of them with it.
const overlapping = 4

// overlap lets more parallel tests run at a time than go test would, which reckons that they
// compute. Who says -parallel decides.
func overlap() {
	for _, arg := range os.Args[1:] {
		if name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "="); name == "test.parallel" {
			return
		}
	}
	if f := goflag.Lookup("test.parallel"); f != nil {
		_ = f.Value.Set(strconv.Itoa(overlapping * runtime.GOMAXPROCS(0))) // a number is what it takes
	}
}
