package program

import (
	"os/exec"
	"syscall"
)

// bindToParent makes the kernel kill the process when the test's own process ends, for whatever
// reason.
func bindToParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
