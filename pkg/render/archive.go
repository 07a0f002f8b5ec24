package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Archive writes what an archive has: how many objects of each type and namespace, or each object
// in a wide table; for what and where it was written; what is missing, and whether it is whole.
func Archive(w io.Writer, a *v1alpha1.Archive, s Style) error {
	table := archiveCounts
	if s.Wide {
		table = archiveObjects
	}
	if len(a.Objects) > 0 {
		if err := table(w, a.Objects, s); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s: %s, %s\n", Escape(a.File), phrase.Count(len(a.Objects), "object"), archiveOrigin(a))
	fmt.Fprintln(out, archivePurpose(a))
	if !a.Complete {
		fmt.Fprintln(out, paint(s.warn,
			"incomplete: types that may contain dependents could not be listed when it was written"))
	}
	if len(a.Missing) > 0 {
		missing := "missing"
		if a.Whole {
			missing = "missing, because they no longer existed when it was written"
		}
		fmt.Fprintf(out, "%s:\n", paint(s.warn, missing))
		for _, o := range a.Missing {
			fmt.Fprintln(out, "  "+Quoted(o))
		}
	}
	if a.Whole {
		fmt.Fprintln(out, "the archive is whole")
	}
	return out.Flush()
}

// archiveOrigin says when and where the objects were saved.
func archiveOrigin(a *v1alpha1.Archive) string {
	when, where := "at an unknown time", "of an unknown cluster"
	if a.ArchivedAt != nil {
		when = "saved at " + a.ArchivedAt.UTC().Format(time.RFC3339)
	}
	if a.Cluster != "" {
		where = "of the cluster " + Escape(a.Cluster)
	}
	return when + " " + where
}

// archivePurpose says what the archive was written for.
func archivePurpose(a *v1alpha1.Archive) string {
	roots := phrase.Words(a.Roots, refLocated)
	of := ""
	if len(roots) > 0 {
		of = " of " + phrase.FirstFew(roots, 5)
	}
	switch {
	case a.Policy != "":
		return "saved before a deletion" + of + " with the policy " + Escape(a.Policy)
	case a.Actions > 0:
		return "saved before objects" + of + " were deleted or changed"
	}
	return "a copy" + of
}

// archiveCounts writes how many objects of each type and namespace there are.
func archiveCounts(w io.Writer, objects []v1alpha1.ObjectRef, s Style) error {
	type group struct{ namespace, kind string }
	counts := map[group]int{}
	for _, o := range objects {
		counts[group{o.Namespace, o.QualifiedKind()}]++
	}
	groups := slices.SortedFunc(maps.Keys(counts), func(a, b group) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.kind, b.kind))
	})
	return writeRows(w, s, []column[group]{
		{header: "NAMESPACE", cell: func(g group) string { return orDash(Escape(g.namespace)) }, shorten: 1},
		{header: "TYPE", cell: func(g group) string { return Escape(g.kind) }, shorten: 1},
		{header: "OBJECTS", cell: func(g group) string { return strconv.Itoa(counts[g]) }},
	}, groups)
}

// archiveObjects writes each object, in the order of the archive.
func archiveObjects(w io.Writer, objects []v1alpha1.ObjectRef, s Style) error {
	return writeRows(w, s, []column[v1alpha1.ObjectRef]{
		{header: "NAMESPACE", cell: func(o v1alpha1.ObjectRef) string { return orDash(Escape(o.Namespace)) }, shorten: 1},
		{header: "NAME", cell: TypeName, shorten: 1},
		{header: "UID", cell: func(o v1alpha1.ObjectRef) string { return Escape(o.UID) }},
	}, objects)
}

// ArchiveNames writes the name of each object in an archive, one in a line.
func ArchiveNames(w io.Writer, a *v1alpha1.Archive) error {
	return writeNames(w, slices.Values(a.Objects), func(o v1alpha1.ObjectRef) graph.Ref { return o })
}

// Archived writes what an archive has, and which objects it does not have.
func Archived(w io.Writer, saved *archive.Saved) {
	NotArchived(w, saved)
	fmt.Fprintln(w, ArchivedIn(saved))
}

// ArchivedIn says how many objects an archive has.
func ArchivedIn(saved *archive.Saved) string {
	return fmt.Sprintf("archived %s in %s", phrase.Count(saved.Objects, "object"), Escape(saved.File))
}

// NotArchived warns of what an archive does not have.
func NotArchived(w io.Writer, saved *archive.Saved) {
	for _, ref := range saved.Gone {
		Warn(w, "%s is not in the archive: it no longer exists", Quoted(ref))
	}
	if len(saved.Unconfirmed) > 0 {
		names := phrase.Words(saved.Unconfirmed, refLocated)
		Warn(w, "only links that %s not confirm lead to %s, which the archive leaves out: name %s to save %s",
			phrase.Plural(len(names), "it does", "they do"), few(names),
			phrase.Plural(len(names), "it", "them"), phrase.Plural(len(names), "it", "them"))
	}
	if saved.Gaps {
		Warn(w, "objects of types that could not be listed are not in the archive; its plan names the gaps")
	}
}

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
