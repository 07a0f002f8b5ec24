package render

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Saved says what a snapshot has, and where it is.
func Saved(s *v1alpha1.Snapshot, file string) string {
	return fmt.Sprintf("saved %s to %s (%.1f MB): %d of them whole, and the metadata of the others",
		phrase.Count(s.Objects, "object"), Escape(file), float64(s.Bytes)/1e6, s.WholeObjects)
}
