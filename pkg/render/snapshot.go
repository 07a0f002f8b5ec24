package render

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Saved says what a snapshot has, and where it is.
func Saved(s *v1alpha1.Snapshot, file string) string {
	line := fmt.Sprintf("saved the metadata of %s", phrase.Count(s.Objects, "object"))
	if s.WholeObjects > 0 {
		line += fmt.Sprintf(", %d of them whole", s.WholeObjects)
	}
	return line + fmt.Sprintf(", in %s (%.1f MB)", Escape(file), float64(s.Bytes)/1e6)
}
