// Package terminal opens pseudo-terminals for tests of what a command prints, and asks, on a
// terminal.
package terminal

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Open opens a pseudo-terminal with a number of columns, or of no known width if it is zero. What a
// process writes to screen is read from keyboard, and what is written to keyboard is typed. Both
// are to be closed: reading from keyboard ends when nobody has screen open any more.
func Open(columns int) (keyboard, screen *os.File, err error) {
	keyboard, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(keyboard.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil && columns > 0 {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: uint16(columns)})
	}
	if err == nil {
		screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(err, keyboard.Close())
	}
	return keyboard, screen, nil
}
