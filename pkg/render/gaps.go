package render

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// WarnGaps writes what could not be listed: a line for each reason and message, however many types
// share it.
func WarnGaps(errOut io.Writer, gaps []v1alpha1.Gap) {
	type class struct {
		reason  v1alpha1.GapReason
		message string
		links   bool
	}
	types, questions := map[class][]string{}, map[class]bool{}
	for _, g := range gaps {
		c := class{g.Reason, g.Message, g.Links}
		switch {
		case g.Reason != v1alpha1.GapForbidden:
		case g.Links:
			c.message = "you may not read them " + scopeOf(g)
		default:
			c.message = "you may not list " + scopeOf(g)
		}
		types[c], questions[c] = append(types[c], g.TypeName()), g.IsQuestion()
	}
	classes := slices.SortedFunc(maps.Keys(types), func(a, b class) int {
		return cmp.Or(strings.Compare(string(a.reason), string(b.reason)), strings.Compare(a.message, b.message))
	})
	for _, c := range classes {
		if questions[c] {
			Warn(errOut, "%s", Escape(phrase.Shorten(c.message)))
			continue
		}
		what := "cannot list " + sortedFew(types[c])
		if c.links {
			what = "the links of " + sortedFew(types[c]) + " are not known"
		}
		Warn(errOut, "%s: %s", what, Escape(phrase.Shorten(c.message)))
	}
}

// WarnUnread writes what could not be read live.
func WarnUnread(errOut io.Writer, unread []v1alpha1.Gap) {
	for _, g := range unread {
		Warn(errOut, "%s", Escape(phrase.Shorten(g.Message)))
	}
}

func scopeOf(g v1alpha1.Gap) string {
	if g.Namespace != "" {
		return fmt.Sprintf("in namespace %q", g.Namespace)
	}
	return "at the cluster scope"
}

// sortedFew sorts names, names the first few and counts the rest.
func sortedFew(names []string) string { return Escape(phrase.SortedFew(names)) }
