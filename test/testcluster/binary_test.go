package testcluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMissingBinarySaysWhatToDo(t *testing.T) {
	t.Setenv(binaryVariable, filepath.Join(t.TempDir(), "controlplane"))
	if _, err := findBinary(); err == nil || !strings.Contains(err.Error(), `run "make controlplane" first`) {
		t.Errorf("got %v", err)
	}
}

func TestModuleRootIsTheMainModules(t *testing.T) {
	root := t.TempDir()
	nested := filepath.Join(root, "test", "controlplane", "deep")
	if err := os.MkdirAll(nested, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{
		filepath.Join(root, "go.mod"):                         mainModule + "\ngo 1.26.0\n",
		filepath.Join(root, "test", "controlplane", "go.mod"): strings.TrimSpace(mainModule) + "/test/controlplane\n",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(nested)
	got, err := ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	want, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	if got, err = filepath.EvalSymlinks(got); err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}
