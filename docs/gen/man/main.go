// Command man writes the man pages of kubectl gc for a release.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/docs"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

func main() {
	dir := flag.String("dir", "man", "Folder to write into")
	version := flag.String("version", "", "Version of the release, as v1.2.3")
	date := flag.String("date", "", "When the commit was made (RFC 3339), so that two builds of it are equal")
	flag.Parse()
	if err := write(*dir, *version, *date); err != nil {
		fmt.Fprintf(os.Stderr, "error: writing the man pages: %v\n", err)
		os.Exit(1)
	}
}

func write(dir, version, date string) error {
	at, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return fmt.Errorf("--date: %w", err)
	}
	pages, err := docs.Man(cmd.NewRoot(genericiooptions.NewTestIOStreamsDiscard()), version, at)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, page := range pages {
		if err := os.WriteFile(filepath.Join(dir, page.File), []byte(page.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
