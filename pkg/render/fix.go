package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownerref"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// FixPlan writes which references of which objects are removed, why, and what keeps the objects.
func FixPlan(w io.Writer, p *check.Fixes, s Style) error {
	type removal struct {
		*check.Fix
		graph.OwnerReference
		because string
	}
	var rows []removal
	for _, fix := range p.Fixes {
		for i, r := range fix.Removed {
			rows = append(rows, removal{fix, r, fix.Because[i]})
		}
	}
	if err := writeRows(w, s, []column[removal]{
		{header: "NAMESPACE", cell: func(r removal) string { return orDash(Escape(r.Object.Namespace)) }},
		{header: "OBJECT", cell: func(r removal) string { return KindName(r.Object) }, shorten: 1},
		{header: "REMOVES", cell: func(r removal) string { return kindSlashName(r.OwnerReference) }, shorten: 1},
		{header: "BECAUSE", cell: func(r removal) string { return Escape(r.because) }, shorten: 1},
		{header: "KEPT-BY", cell: func(r removal) string { return kindSlashName(r.Keeper) }, shorten: 1},
		{header: "UID", cell: func(r removal) string { return Escape(r.UID) }, wide: true},
	}, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "removes %s of %s; no object is deleted\n", phrase.Count(p.Count(), "owner reference"),
		phrase.Count(len(p.Fixes), "object"))
	return err
}

func kindSlashName(r graph.OwnerReference) string { return Escape(r.Kind + "/" + r.Name) }

// FixLine says in one line that references were removed from an object.
func FixLine(fix *check.Fix) string {
	return fmt.Sprintf("%s: %s removed: %s", Quoted(fix.Object), phrase.Count(len(fix.Removed), "owner reference"),
		Escape(strings.Join(fix.Because, "; ")))
}

// FixNames writes the names of the objects that are changed, one in a line.
func FixNames(w io.Writer, fixes []*check.Fix) error {
	return writeNames(w, slices.Values(fixes), func(f *check.Fix) graph.Ref { return f.Object })
}

// FixSkipped says of an object why it is left alone.
func FixSkipped(object graph.Ref, because error) string {
	return Quoted(object) + " was left alone: " + Escape(because.Error())
}

// Adopted says in one line what was done about an owner of an object, as kubectl does: configmap/a
// adopted by deployment.apps/web. The suffix says that it was a dry run.
func Adopted(c *ownerref.Change, suffix string) string {
	object := TypeName(c.Object)
	if c.Nothing() {
		return object + " unchanged" + suffix
	}
	return object + " adopted by " + Escape(ownerref.Name(c.References[0])) + suffix
}

// Disowned is Adopted for references that were removed.
func Disowned(c *ownerref.Change, suffix string) string {
	object := TypeName(c.Object)
	if c.Nothing() {
		return object + " unchanged" + suffix
	}
	var names []string
	for _, r := range c.References {
		if name := Escape(ownerref.Name(r)); len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return object + " disowned by " + phrase.And(names) + suffix
}

// OwnersLeft says in a sentence what becomes of an object that has lost references; empty if
// nothing new does.
func OwnersLeft(c *ownerref.Change) string {
	names := phrase.Words(c.Left, func(o ownerref.Owner) string { return Escape(ownerref.Name(o.Reference)) })
	switch c.End {
	case ownerref.Unowned:
		return "it has no owner left: the garbage collector does not delete it any more"
	case ownerref.Collected:
		return fmt.Sprintf("the garbage collector deletes it: %s, which %s left, %s or %s being deleted", phrase.And(names),
			phrase.Plural(len(names), "is", "are"), phrase.Plural(len(names), "does not exist", "do not exist"),
			phrase.Plural(len(names), "is", "are"))
	case ownerref.Doubtful:
		return fmt.Sprintf("the garbage collector deletes it if %s, of which not all could be read, %s not exist",
			phrase.And(names), phrase.Plural(len(names), "does", "do"))
	}
	return ""
}
