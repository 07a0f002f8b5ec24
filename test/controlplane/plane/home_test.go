package plane

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/process"
)

func newHome(t *testing.T) home {
	t.Helper()
	h, err := at(filepath.Join(t.TempDir(), "plane"))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// What a control plane leaves is removed without asking, so it must never be someone else's.
func TestForeignDirectoryIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"kubeconfig", "etcd.log", filepath.Join("state", "precious")} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Run(t.Context(), Options{Dir: dir}, nil); err == nil {
		t.Error("Run took the directory")
	}
	if _, err := Up(t.Context(), Options{Dir: dir}, nil); err == nil {
		t.Error("Up took the directory")
	}
	if err := Down(t.Context(), dir); err != nil {
		t.Errorf("Down: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "state", "precious")); err != nil {
		t.Errorf("a file was removed: %v", err)
	}
}

func TestTakeOverStartsClean(t *testing.T) {
	h := newHome(t)
	for range 2 {
		release, err := h.takeOver(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(h.path("state")); err != nil || len(entries) > 0 {
			t.Errorf("state after taking over: %v, %v", entries, err)
		}
		if err := h.writeState(map[string][]byte{"left": nil}); err != nil {
			t.Fatal(err)
		}
		release()
	}
}

func TestDownRemovesEverything(t *testing.T) {
	h := newHome(t)
	release, err := h.takeOver(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.makeCredentials(); err != nil {
		t.Fatal(err)
	}
	release()
	for range 2 {
		if err := Down(t.Context(), string(h)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(string(h)); !os.IsNotExist(err) {
			t.Errorf("the directory after Down: %v", err)
		}
	}
}

func TestControllersNeedAControlPlane(t *testing.T) {
	h := newHome(t)
	if err := Controllers(t.Context(), Options{Dir: string(h), Controllers: NoControllers}); err == nil {
		t.Error("no error where nothing runs")
	}
	if process.Alive(h.record(supervisor)) {
		t.Error("asking made something live")
	}
}
