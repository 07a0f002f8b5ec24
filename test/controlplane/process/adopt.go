package process

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// How Start tells the process that it starts what it is to adopt.
const (
	recordVariable   = "CONTROLPLANE_RECORD"
	lifelineVariable = "CONTROLPLANE_LIFELINE"
	recordDescriptor = 3 // the first of exec.Cmd.ExtraFiles
)

// Adopt is to be called first thing in main. In a process that Start started it takes over the
// record and the lifeline; in any other it does nothing.
func Adopt() error {
	if os.Getenv(recordVariable) != "" {
		// The plain descriptor is used, because an os.File closes itself when nothing points to it
		// any more.
		unix.CloseOnExec(recordDescriptor)
		if err := writePid(recordDescriptor); err != nil {
			return fmt.Errorf("writing the record of this process: %w", err)
		}
	}
	if path := os.Getenv(lifelineVariable); path != "" {
		go endWith(path)
	}
	for _, name := range []string{recordVariable, lifelineVariable} {
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return nil
}

// endWith ends this process, hard, when that of the record at path has ended.
func endWith(path string) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		err = flock(fd, unix.LOCK_SH)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "ending, because the record %s cannot be watched: %v\n", path, err)
	}
	// A component's own way out can take a minute when the others are gone.
	_ = unix.Kill(os.Getpid(), unix.SIGKILL)
}
