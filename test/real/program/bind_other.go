//go:build !linux

package program

import "os/exec"

// bindToParent does nothing: only Linux can end a process with its parent.
func bindToParent(*exec.Cmd) {}
