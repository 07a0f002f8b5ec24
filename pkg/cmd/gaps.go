package cmd

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// warnGaps says on stderr what could not be seen: a line for each reason and message, however many types share it.
func warnGaps(errOut io.Writer, gaps []v1alpha1.Gap) {
	type class struct {
		reason  v1alpha1.GapReason
		message string
	}
	types := map[class][]string{}
	for _, g := range gaps {
		c := class{g.Reason, g.Message}
		if g.Reason == v1alpha1.GapForbidden {
			c.message = "you may not list " + scopeOf(g)
		}
		types[c] = append(types[c], typeName(g))
	}
	classes := make([]class, 0, len(types))
	for c := range types {
		classes = append(classes, c)
	}
	slices.SortFunc(classes, func(a, b class) int {
		return cmp.Or(strings.Compare(string(a.reason), string(b.reason)), strings.Compare(a.message, b.message))
	})
	for _, c := range classes {
		fmt.Fprintf(errOut, "Warning: not seen: %s: %s\n", enumerate(types[c]), render.Escape(shorten(c.message)))
	}
}

// warnUnread says on stderr what could not be read live.
func warnUnread(errOut io.Writer, unread []v1alpha1.Gap) {
	for _, g := range unread {
		fmt.Fprintf(errOut, "Warning: %s\n", render.Escape(shorten(g.Message)))
	}
}

// unreadError is the finding that objects could not be read live.
func unreadError(unread []v1alpha1.Gap) error {
	if len(unread) == 0 {
		return nil
	}
	more := ""
	if n := len(unread) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return refusal{fmt.Errorf("incomplete: %s%s; objects that could not be read are kept, and so are their dependents", shorten(unread[0].Message), more)}
}

func scopeOf(g v1alpha1.Gap) string {
	if g.Namespace != "" {
		return fmt.Sprintf("in namespace %q", g.Namespace)
	}
	return "at the cluster scope"
}

func typeName(g v1alpha1.Gap) string {
	switch {
	case g.Group != "":
	case g.Resource == "*":
		return "the core group"
	default:
		return g.Resource
	}
	return g.Resource + "." + g.Group
}

// enumerate names the first few and counts the rest.
func enumerate(names []string) string {
	const most = 4
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) <= most {
		return render.Escape(strings.Join(names, ", "))
	}
	return fmt.Sprintf("%s and %d more", render.Escape(strings.Join(names[:most-1], ", ")), len(names)-most+1)
}

// shorten keeps a server's message, which can be a whole page, to what fits a few lines of a terminal.
func shorten(message string) string {
	const most = 300
	if r := []rune(message); len(r) > most {
		return string(r[:most]) + "…"
	}
	return message
}
