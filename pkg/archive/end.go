package archive

import (
	"errors"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// ErrNotWhole is of an archive that ends before its end, or does not hold as many objects as its
// plan says.
var ErrNotWhole = errors.New("the archive is not whole")

// endOf is the last line of an archive of n objects. It is a comment in the last document, so that
// who reads YAML sees no further document. No text of an object can look like it: in a document
// such a line is indented, or quoted.
func endOf(n int) string { return "# end of archive: " + phrase.Count(n, "object") + "\n" }

// isEndOf says whether a line is the last of an archive of n objects.
func isEndOf(line []byte, n int) bool {
	return strings.TrimSpace(string(line)) == strings.TrimSpace(endOf(n))
}
