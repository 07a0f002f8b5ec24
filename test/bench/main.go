// Command bench measures what reading a cluster of about 100,000 objects costs, beside the raw
// bytes, kubectl and other plugins, near and far away, with few types and with many. As "bench
// claim" it measures the tree of a claim of Crossplane with 500 managed resources, as "bench
// collect" how long run --watch and the cluster's collector take for the 1,000 dependents of a
// deleted owner, as "bench million" a million objects that are generated, as "bench snapshot" what
// saving these in a file costs, and asking that, and as "bench fleet" asking 200 clusters. It is a
// measurement and no test: a figure that misses its aim is printed as such and is no error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// roles are what the program also does when its first argument says so: as a child of itself, so
// that each has a process whose figures are its own, or for make bench.
var roles = map[string]func(ctx context.Context, args []string) error{
	roleRaw:      readRaw,
	roleProfiled: runProfiled,
	roleLinear:   runLinear,
	roleClaim:    benchClaim,
	roleCollect:  benchCollect,
	roleMillion:  benchMillion,
	roleSnapshot: benchSnapshot,
	roleFleet:    benchFleet,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:])
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		if role, ok := roles[args[0]]; ok {
			return role(ctx, args[1:])
		}
	}
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	return bench(ctx, o)
}

// say tells on stderr what is going on; stdout is for the table.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}
