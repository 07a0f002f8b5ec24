// Command publish makes what a release needs besides goreleaser: its notes, its krew manifest, and
// archives where there is no goreleaser.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/kubectl-gc/kubectl-gc/krew"
)

const usage = `usage:
  publish notes TAG                print the section of CHANGELOG.md
  publish manifest NAME TAG CHECKSUMS   print the krew manifest of gc or cascade, with the sums of checksums.txt
  publish snapshot TAG DIR         write the archives of all systems and checksums.txt into a folder
`

// It is run from the top of the repository.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "notes":
		return notes(args[1])
	case len(args) == 4 && args[0] == "manifest":
		return manifest(args[1], args[2], args[3])
	case len(args) == 3 && args[0] == "snapshot":
		return snapshot(ctx, args[1], args[2])
	}
	return fmt.Errorf("unknown arguments %q\n%s", args, usage)
}

func notes(tag string) error {
	changelog, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	text, err := krew.Notes(string(changelog), tag)
	fmt.Print(text)
	return err
}

func manifest(name, tag, checksums string) error {
	sums, err := os.ReadFile(checksums)
	if err != nil {
		return err
	}
	text, err := os.ReadFile("krew/gc.yaml")
	if err != nil {
		return err
	}
	filled, err := krew.Manifest(string(text), name, tag, string(sums))
	fmt.Printf("%s", filled)
	return err
}

func snapshot(ctx context.Context, tag, dir string) error {
	r, err := krew.ReadRelease(".")
	if err != nil {
		return err
	}
	sums, err := krew.Snapshot(ctx, ".", tag, dir, r.Systems())
	fmt.Print(sums)
	return err
}
