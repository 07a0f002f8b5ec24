package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ErrHeld says that the process of a record is alive.
var ErrHeld = errors.New("its process is running")

// Hold takes the record at path for the calling process and returns what gives it up again.
func Hold(path string) (release func(), err error) {
	f, err := lock(path)
	if err != nil {
		return nil, err
	}
	if err := writePid(int(f.Fd())); err != nil {
		f.Close()
		return nil, fmt.Errorf("writing the record %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}

// Alive reports whether the process of the record at path is running.
func Alive(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	f, err := lock(path)
	if err != nil {
		return errors.Is(err, ErrHeld)
	}
	f.Close()
	return false
}

// Stop ends the process of the record at path and returns when it is gone: asked with SIGTERM, and
// killed after grace. A record whose process is gone already is left as it is.
func Stop(ctx context.Context, path string, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, grace+20*time.Second)
	defer cancel()
	kill := time.Now().Add(grace)
	sent := unix.Signal(0)
	for Alive(path) {
		signal := unix.SIGTERM
		if !time.Now().Before(kill) {
			signal = unix.SIGKILL
		}
		// The pid is missing for the moment between the start of a process and its first
		// instruction.
		if pid, err := readPid(path); err == nil && signal != sent {
			if err := unix.Kill(pid, signal); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("stopping process %d of %s: %w", pid, path, err)
			}
			sent = signal
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stopping the process of %s: %w", path, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// lock opens the record at path, creating it where it is missing, and locks it without waiting.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrHeld
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	// Between the two calls the file may have been removed and made anew by someone else.
	held, heldErr := f.Stat()
	named, namedErr := os.Stat(path)
	if heldErr != nil || namedErr != nil || !os.SameFile(held, named) {
		f.Close()
		return nil, fmt.Errorf("locking %s: %w", path, ErrHeld)
	}
	return f, nil
}

// flock repeats what a signal interrupted; the Go runtime sends itself many.
func flock(fd, how int) error {
	for {
		if err := unix.Flock(fd, how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func writePid(fd int) error {
	if err := unix.Ftruncate(fd, 0); err != nil {
		return err
	}
	_, err := unix.Pwrite(fd, []byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func readPid(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil && pid <= 1 {
		err = fmt.Errorf("%s holds no pid", path)
	}
	return pid, err
}
