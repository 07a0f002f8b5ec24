//go:build unix

package archive

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestArchiveIsForItsOwnerAlone, whatever the umask.
func TestArchiveIsForItsOwnerAlone(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o277} {
		dir := t.TempDir()
		path := filepath.Join(dir, "archive.yaml")
		old := syscall.Umask(umask)
		file, err := private(dir)
		if err != nil {
			t.Fatal(err)
		}
		before, err := file.Stat()
		if err == nil {
			err = place(file, path)
		}
		syscall.Umask(old)
		if err != nil {
			t.Fatal(err)
		}
		after, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if before.Mode() != mode || after.Mode() != mode {
			t.Errorf("umask %o: mode %v while it is written, %v in the end; want %v", umask, before.Mode(), after.Mode(),
				os.FileMode(mode))
		}
	}
}

// TestUnwritableFolder leaves nothing and overwrites nothing.
func TestUnwritableFolder(t *testing.T) {
	dir := "/sys" // where not even root makes files
	if os.Geteuid() != 0 {
		dir = t.TempDir()
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
	}
	if file, err := private(dir); err == nil {
		t.Errorf("there is %s", file.Name())
	}
}
