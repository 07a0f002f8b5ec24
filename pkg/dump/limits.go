package dump

import (
	"errors"
	"fmt"
	"io"
)

// Limits bound what is read of a dump.
type Limits struct {
	// Entry is how many bytes a file with objects may have.
	Entry int64
	// Kept is how many bytes the files with objects may have together, and Unpacked all files of
	// an archive, with what is stepped over.
	Kept, Unpacked int64
	// Entries is how many files there may be, and Objects how many objects.
	Entries, Objects int
}

// DefaultLimits are larger than what is saved of a large cluster.
var DefaultLimits = Limits{Entry: 1 << 30, Kept: 4 << 30, Unpacked: 64 << 30, Entries: 2_000_000, Objects: 5_000_000}

// maxPiece bounds what is decoded of YAML at once, in bytes. An API server takes no object of more
// than 3 MiB.
const maxPiece = 4 << 20

// errTooLarge is of what the Limits do not allow.
var errTooLarge = errors.New("the dump is too large")

func tooLarge(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errTooLarge, fmt.Sprintf(format, args...))
}

// bounded reads no more than a number of bytes, and an error after that.
type bounded struct {
	io.Reader
	left  int64
	bound int64
	what  string
}

func bound(r io.Reader, most int64, what string) *bounded {
	return &bounded{Reader: r, left: most, bound: most, what: what}
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return 0, tooLarge("%s has more than %d MiB", b.what, b.bound>>20)
	}
	return n, err
}
