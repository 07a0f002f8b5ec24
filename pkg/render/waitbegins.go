package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// WaitBegins writes which of the objects that are meant do not exist, with what else could have
// been meant, and what is waited for.
func WaitBegins(out, errOut io.Writer, p *deletion.Planned) {
	for _, a := range p.Absent {
		fmt.Fprintf(out, "%s does not exist\n", Quoted(a.Object))
		if a.Hint != "" {
			fmt.Fprintln(errOut, "hint: "+phrase.EscapeLines(a.Hint))
		}
	}
	if n := len(p.Deleted); n > 0 {
		fmt.Fprintf(out, "waiting until %s: %s\n", phrase.Count(n, "object")+phrase.Plural(n, " is deleted", " are deleted"),
			SortedFew(KindNamesOf(p.Graph, p.Deleted)))
	}
}

// WarnUnattended warns of the finalizers that nobody removes as things are, and of the deletions that
// wait for somebody to confirm them.
func WarnUnattended(errOut io.Writer, p *deletion.Planned) {
	for _, u := range p.Unattended {
		more := ""
		if u.More > 0 {
			more = " and " + phrase.Count(u.More, "more object")
		}
		fmt.Fprintf(errOut, "Warning: nobody removes the finalizer %s of %s%s at present: %s\n",
			Escape(u.Finalizer), Escape(u.Object.Located()), more, Escape(strings.Join(u.Because, "; ")))
	}
	if p.Plan == nil {
		return
	}
	for _, r := range DeletionPlan(p).remarkConfirmations() {
		fmt.Fprintln(errOut, "Warning: "+r.text)
	}
}
