package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// LinkTest writes the links that packs find in objects: each source, and below it the ends that it
// names, where it names them, and what a deletion does. With the zero Style it is the text that
// links.txt has.
func LinkTest(w io.Writer, t *v1alpha1.LinkTest, s Style) error {
	out := bufio.NewWriter(w)
	for i, source := range t.Sources {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, testedName(source.Object, s))
		for _, l := range source.Links {
			absent := ""
			if !l.Present {
				absent = " (absent)"
			}
			fmt.Fprintf(out, "  %s: %s%s\n", Escape(l.Name), testedName(l.End, s), paint(s.warn, absent))
			if err := Paragraphs(out, []string{"    " + paint(s.dim, namedBy(l)), "    " + Escape(deletionOfLink(l))}, s); err != nil {
				return err
			}
		}
		for _, e := range source.Errors {
			if err := Paragraphs(out, []string{"  " + paint(s.bad, "cannot be read:") + " " + Escape(e)}, s); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// testedName names an object as packs name kinds, with its namespace and name: apps/Deployment
// shop/web.
func testedName(r v1alpha1.ObjectRef, s Style) string {
	group, _, found := strings.Cut(r.APIVersion, "/")
	if !found {
		group = "v1"
	}
	name := r.Name
	if r.Namespace != "" {
		name = r.Namespace + "/" + name
	}
	return paint(s.kind, Escape(group+"/"+r.Kind)) + " " + Escape(name)
}

func namedBy(l v1alpha1.FoundLink) string {
	if l.Labels != "" {
		return "selected by " + Escape(l.Labels)
	}
	return "named in " + Escape(l.Field)
}

// policyWords say how a program deletes.
var policyWords = map[string]string{"foreground": " in the foreground", "background": " in the background"}

// deletionOfLink says what a deletion does along a link.
func deletionOfLink(l v1alpha1.FoundLink) string {
	who := ""
	if l.Of == "source" {
		who = "with it, this object is "
	}
	switch {
	case l.Of == "guard":
		return "kept from being deleted as long as this object exists"
	case l.Of == "lead":
		return "manages this object; its own links say what a deletion does"
	case l.Of == "neither" && l.Owner == "end":
		return "stands above this object; a deletion does not follow"
	case l.Of == "neither":
		return "a deletion does not follow"
	case l.Kept != "":
		return "kept: " + l.Kept
	case !l.Deleted && l.Why == "":
		return who + "not deleted"
	case !l.Deleted:
		return who + "not deleted: " + l.Why
	}
	deleted := who + "deleted by " + l.By + policyWords[l.Policy]
	if l.Waits {
		deleted += ", which waits until it is gone"
	}
	return deleted
}
