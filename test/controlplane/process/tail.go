package process

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// Tail returns the last lines of the file at path, for an error that names it.
func Tail(path string, lines int) string {
	const most = 16 << 10
	f, err := os.Open(path)
	if err != nil {
		return fmt.Sprintf("(cannot be read: %v)", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > most {
		if _, err := f.Seek(-most, io.SeekEnd); err != nil {
			return fmt.Sprintf("(cannot be read: %v)", err)
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return fmt.Sprintf("(cannot be read: %v)", err)
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	if len(all) == 1 && all[0] == "" {
		return "(it is empty)"
	}
	return strings.Join(all, "\n")
}
