package testcluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Example gives an example, which has no testing.TB, one of that name, so that it can use a shared
// control plane. A failure panics, which fails the example. Done ends it: what Cleanup was given is
// run.
func Example(name string) (t testing.TB, done func()) {
	ctx, cancel := context.WithCancel(context.Background())
	e := &example{name: name, ctx: ctx}
	return e, func() {
		cancel()
		for _, clean := range slices.Backward(e.cleanups) {
			clean()
		}
	}
}

// example has only those methods of testing.TB that this package and test/fixture use.
type example struct {
	testing.TB
	name     string
	ctx      context.Context
	cleanups []func()
}

func (*example) Helper() {}

func (e *example) Name() string { return e.name }

func (e *example) Context() context.Context { return e.ctx }

func (e *example) Cleanup(clean func()) { e.cleanups = append(e.cleanups, clean) }

func (e *example) TempDir() string {
	dir, err := os.MkdirTemp("", filepath.Base(e.name))
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (*example) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (*example) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

func (*example) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// Skip cannot skip an example: -short needs -skip '^Example' beside it.
func (*example) Skip(args ...any) { panic(fmt.Sprint(args...) + "; add -skip '^Example'") }
