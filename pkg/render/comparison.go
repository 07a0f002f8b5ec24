package render

import (
	"fmt"
	"io"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// difference is a row of a comparison.
type difference struct {
	change string
	object v1alpha1.ObjectRef
	says   string
}

// Comparison writes a row for each object that was deleted, created or changed, and a summary.
func Comparison(w io.Writer, c *v1alpha1.Comparison, s Style) error {
	var rows []difference
	for _, d := range c.Deleted {
		rows = append(rows, difference{"deleted", d.Object, deletedBy(d)})
	}
	for _, o := range c.Created {
		says := "-"
		if o.Replaces != "" {
			says = "another object had its name"
		}
		rows = append(rows, difference{"created", o.Object, says})
	}
	for _, o := range c.Changed {
		rows = append(rows, difference{"changed", o.Object, changedIn(o)})
	}
	for _, o := range c.Unknown {
		rows = append(rows, difference{"unknown", o, "its type could not be listed at the other time"})
	}
	if len(rows) > 0 {
		err := writeRows(w, s, []column[difference]{
			{header: "CHANGE", cell: func(d difference) string { return d.change }},
			{header: "NAMESPACE", cell: func(d difference) string { return orDash(Escape(d.object.Namespace)) }, shorten: 1},
			{header: "NAME", cell: func(d difference) string { return Escape(d.object.KindName()) }, shorten: 1},
			{header: "BECAUSE", cell: func(d difference) string { return Escape(d.says) }},
		}, rows)
		if err != nil {
			return err
		}
	}
	line := fmt.Sprintf("from %s to %s: deleted %s, created %d, changed %d", c.Before.At.UTC().Format(time.RFC3339),
		c.After.At.UTC().Format(time.RFC3339), phrase.Count(len(c.Deleted), "object"), len(c.Created), len(c.Changed))
	if n := len(c.Unknown); n > 0 {
		line += fmt.Sprintf("; unknown %d", n)
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// WarnOrder says which of two dumps is taken for the earlier where their times do not tell.
func WarnOrder(errOut io.Writer, earlier, later v1alpha1.Moment) {
	Warn(errOut, "the times of files do not tell which is the earlier: %s is taken for it, and %s for the later",
		Escape(earlier.Source), Escape(later.Source))
}

// WarnComparison says what makes a comparison tell less than it seems to.
func WarnComparison(errOut io.Writer, c *v1alpha1.Comparison) {
	WarnGaps(errOut, c.Gaps)
	if x, y := c.Before, c.After; x.Cluster != y.Cluster && x.Cluster != "" && y.Cluster != "" {
		Warn(errOut, "%s and %s are of two clusters, which have no object in common", Escape(x.Source),
			Escape(y.Source))
	}
}

// deletedBy says by what cascade an object went.
func deletedBy(d v1alpha1.DeletedObject) string {
	says := map[v1alpha1.DeletionCause]string{
		v1alpha1.DeletedItself:     "it was deleted, and not with an owner",
		v1alpha1.DeletedAsDangling: "its owners were absent before",
		v1alpha1.DeletedUnknown:    "it is not known whether its owners are gone",
	}[d.Cause]
	if d.With != nil {
		says = map[v1alpha1.DeletionCause]string{v1alpha1.DeletedWithOwner: "its owner ",
			v1alpha1.DeletedWithNamespace: "its namespace ", v1alpha1.DeletedWithDefinition: "its definition "}[d.Cause] +
			d.With.KindName() + " is gone"
	}
	if d.Top != nil {
		says += ", and above it " + d.Top.KindName()
	}
	return says
}

// changedIn says what of an object has changed.
func changedIn(o v1alpha1.ChangedObject) string {
	var says []string
	if o.DeletionTimestamp != nil {
		says = append(says, "is being deleted since "+o.DeletionTimestamp.UTC().Format(time.RFC3339))
	}
	add := func(verb, what string, names []string) {
		if len(names) > 0 {
			says = append(says, verb+" "+phrase.Plural(len(names), what, what+"s")+" "+phrase.And(names))
		}
	}
	kindName := func(r v1alpha1.ObjectRef) string { return r.KindName() }
	add("has the new", "owner", phrase.Words(o.OwnersAdded, kindName))
	add("lost the", "owner", phrase.Words(o.OwnersRemoved, kindName))
	add("has the new", "finalizer", o.FinalizersAdded)
	add("lost the", "finalizer", o.FinalizersRemoved)
	return phrase.And(says)
}
