package render

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Saved says what a snapshot has, and where it is.
func Saved(s *v1alpha1.Snapshot, file string) string {
	whole := fmt.Sprintf("%d of them whole, and the metadata of the others", s.WholeObjects)
	switch s.WholeObjects {
	case 0:
		whole = "the metadata"
	case s.Objects:
		whole = "all whole"
	}
	return fmt.Sprintf("saved %s to %s (%s): %s",
		phrase.Count(s.Objects, "object"), Escape(file), size(s.Bytes), whole)
}

// size is a number of bytes in kB, or in MB from one on.
func size(bytes int64) string {
	if bytes < 1e6 {
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}
