package testcluster

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// binaryVariable names a control plane other than the one that the Makefile builds.
const binaryVariable = "CONTROLPLANE"

// mainModule is the first line of the go.mod beside which bin/ is; test/controlplane has one of its
// own.
const mainModule = "module github.com/kubectl-gc/kubectl-gc\n"

// findBinary finds the control plane's file, from the directory that a test runs in.
func findBinary() (string, error) {
	path := os.Getenv(binaryVariable)
	if path == "" {
		root, err := ModuleRoot()
		if err != nil {
			return "", err
		}
		path = filepath.Join(root, "bin", "controlplane")
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("finding the control plane: %w: run \"make controlplane\" first", err)
	}
	return filepath.Abs(path)
}

// ModuleRoot finds the main module's directory, from the directory that a test runs in. The
// programs that the Makefile builds are in its bin.
func ModuleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(content, []byte(mainModule)) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("finding the module's root: it is not above %s", start)
		}
	}
}
