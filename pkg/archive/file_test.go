package archive

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestCheck: what exists is refused, whatever it is, and so is what can never be made.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	dangling := filepath.Join(dir, "link")
	if err := os.Symlink("nowhere", dangling); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		file:                               "never overwritten",
		dir:                                "never overwritten",
		dangling:                           "never overwritten",
		filepath.Join(dir, "no", "file"):   "there is no directory",
		filepath.Join(file, "file"):        "there is no directory",
		filepath.Join(dir, "new.yaml"):     "",
		filepath.Join(dir, "new") + "/":    "there is no directory",
		filepath.Join(dir, "..", "x.yaml"): "",
	} {
		err := Check(path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// TestDiskFull: a disk that is full is an error of each way of writing.
func TestDiskFull(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // only there is a file that is always full
	}
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	if err := (&spool{file: full}).add(0, []byte("x"), copied{}); err == nil {
		t.Error("the spool was written")
	}
	for _, name := range []string{"archive.yaml", "archive.yaml.gz"} {
		if err := compressed(full, name, func(w io.Writer) error { return writePlan(w, head()) }); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}
