package render

import (
	"fmt"
	"io"

	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Archived writes what an archive has, and which objects it does not have. Gaps says that there may
// be objects that could not be listed.
func Archived(w io.Writer, file string, saved *archive.Saved, gaps bool) {
	NotArchived(w, saved, gaps)
	fmt.Fprintln(w, ArchivedIn(file, saved))
}

// ArchivedIn says how many objects an archive has.
func ArchivedIn(file string, saved *archive.Saved) string {
	return fmt.Sprintf("archived %s in %s", phrase.Count(saved.Objects, "object"), Escape(file))
}

// NotArchived warns of what an archive does not have.
func NotArchived(w io.Writer, saved *archive.Saved, gaps bool) {
	for _, ref := range saved.Gone {
		fmt.Fprintf(w, "Warning: %s is not in the archive: it no longer exists\n", Quoted(ref))
	}
	if len(saved.Unconfirmed) > 0 {
		names := phrase.Words(saved.Unconfirmed, refLocated)
		fmt.Fprintf(
			w, "Warning: only links that %s not confirm lead to %s, which the archive leaves out: name %s to save %s\n",
			phrase.Plural(len(names), "it does", "they do"), few(names),
			phrase.Plural(len(names), "it", "them"), phrase.Plural(len(names), "it", "them"))
	}
	if gaps {
		fmt.Fprintln(w, "Warning: objects of types that could not be listed are not in the archive; its plan names the gaps")
	}
}
