package render

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// remarkDisks says what data are destroyed, and how to keep them.
func (p Plan) remarkDisks() string {
	if len(p.Disks) == 0 {
		return ""
	}
	return Escape(status.Destroys(p.Disks) + "; " + status.KeepDisks(p.Disks))
}

func (p Plan) remarkUnreadDisks() string {
	if len(p.UnreadDisks) == 0 {
		return ""
	}
	return fmt.Sprintf("it is unknown whether the data of %s are destroyed: the volumes could not be read", phrase.FirstFew(KindNamesOf(p.Graph, p.UnreadDisks), maxNamed))
}

// remarkIdle names the finalizers that nobody removes as long as their actors do not run.
func (p Plan) remarkIdle() string {
	var names []string
	for _, i := range p.Idle {
		names = append(names, fmt.Sprintf("%s of %s, which is not running (%s)", Escape(i.Finalizer), Escape(i.Actor), Escape(strings.Join(i.Because, "; "))))
	}
	if len(names) == 0 {
		return ""
	}
	return "waits for " + phrase.And(names) + ": not removed until it is started"
}
