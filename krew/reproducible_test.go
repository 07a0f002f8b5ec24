package krew

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestTwoBuildsOfOneCommitAreEqual: archives from two checkouts in different folders, whose files
// have different times and permissions, are the same to the byte.
func TestTwoBuildsOfOneCommitAreEqual(t *testing.T) {
	host := []System{{runtime.GOOS, runtime.GOARCH}}
	var sums [2]string
	for i := range sums {
		checkout := filepath.Join(t.TempDir(), strings.Repeat("deep/", i), "checkout")
		clone(t, checkout)
		age(t, checkout, time.Date(2001+i, 1, 1, 0, 0, 0, 0, time.UTC), 0o600+os.FileMode(i)*0o77)
		var err error
		if sums[i], err = Snapshot(t.Context(), checkout, tag, t.TempDir(), host); err != nil {
			t.Fatal(err)
		}
	}
	if sums[0] != sums[1] || !strings.Contains(sums[0], releaseArchives(t, tag)[host[0]]) {
		t.Errorf("the first build has\n%sand the second\n%s", sums[0], sums[1])
	}
}

// clone checks out what is committed, with man pages as a release has them.
func clone(t *testing.T, checkout string) {
	t.Helper()
	config := filepath.Join(t.TempDir(), "gitconfig") // the repository may belong to another user than who tests it
	if err := os.WriteFile(config, []byte("[safe]\n\tdirectory = *\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git := exec.CommandContext(t.Context(), "git", "clone", "--quiet", "--no-hardlinks", "..", checkout)
	git.Env = append(git.Environ(), "GIT_CONFIG_GLOBAL="+config)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("cloning the repository: %v\n%s", err, out)
	}
	if err := os.MkdirAll(filepath.Join(checkout, "man"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(checkout, "man", "kubectl-gc.1"), []byte(".TH KUBECTL-GC 1\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
}

// age gives what goes into an archive beside the executable a time and permissions.
func age(t *testing.T, checkout string, at time.Time, mode os.FileMode) {
	t.Helper()
	for _, file := range []string{"LICENSE", "CHANGELOG.md", "plugins/kubectl_complete-gc",
		"plugins/kubectl_complete-gc.cmd", "man/kubectl-gc.1"} {
		path := filepath.Join(checkout, file)
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}
