// Command suite runs the tests of a target of the Makefile, some commands at a time, and says what
// they cost.
//
// usage: suite [-table FILE] TARGET COMMAND...
//
// Each COMMAND is one word with its arguments in it, such as 'go test -race ./pkg/...'. Of go test
// it prints a line for each package and the output of what failed, and at the end the slowest
// tests. It exits with 1 if a command failed; the others go on to their end.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// slowest is how many of the slowest tests it prints.
const slowest = 10

func main() {
	table := flag.String("table", "",
		"the file with the table of what targets cost, in which the target's row is to be replaced")
	atOnce := flag.Int("at-once", 2, "number of commands that run at the same time, in their order")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: suite [-table FILE] [-at-once N] TARGET COMMAND...")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Args()[1:], *atOnce, *table); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run runs the commands of a target, prints what they cost and, if they have passed, writes that
// into the table.
func run(target string, commands []string, atOnce int, table string) error {
	began, r := time.Now(), &report{out: os.Stdout}
	failed := all(commands, atOnce, func(command string) error { return one(strings.Fields(command), r) })
	r.printSlowest(slowest)
	c := cost{target: target, wall: time.Since(began), processor: ofChildren()}
	fmt.Println(c)
	if failed != nil || table == "" {
		return failed
	}
	return c.record(table)
}

// all runs commands, some at a time, and returns what is wrong with them.
func all(commands []string, atOnce int, do func(string) error) error {
	var group sync.WaitGroup
	errs := make([]error, len(commands))
	free := make(chan struct{}, atOnce)
	for i, command := range commands {
		free <- struct{}{}
		group.Go(func() {
			errs[i] = do(command)
			<-free
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// one runs a command. What go test prints goes into the report.
func one(words []string, r *report) error {
	isTest := len(words) > 1 && words[1] == "test"
	if isTest {
		words = append([]string{words[0], "test", "-json"}, words[2:]...)
		if len(words) > 4 && words[3] == "-C" { // which has to be the first flag
			words = append([]string{words[0], "test", "-C", words[4], "-json"}, words[5:]...)
		}
	}
	cmd := exec.Command(words[0], words[1:]...)
	if slices.Contains(words, "-race") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // the detector is C
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if !isTest {
		return failure(words, cmd.Run())
	}
	read, write := io.Pipe()
	cmd.Stdout = write
	go func() { _ = write.CloseWithError(cmd.Run()) }()
	return failure(words, r.read(read))
}

func failure(words []string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("running %s: %w", strings.Join(words, " "), err)
}

// ofChildren is the processor time of all processes that have ended, with those that they waited
// for in turn: go test, the tests, their control planes.
func ofChildren() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
