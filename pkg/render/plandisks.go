package render

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// remarkDisks says what data are destroyed, and how to keep them.
func (p Plan) remarkDisks() []remark {
	if len(p.Disks) == 0 {
		return nil
	}
	r := remark{text: Escape(status.Destroys(p.Disks) + "; " + status.KeepDisks(p.Disks))}
	for _, d := range p.Disks {
		r.objects = append(r.objects, graph.Ref(d.Volume))
	}
	return []remark{r}
}

func (p Plan) remarkUnreadDisks() []remark {
	if len(p.UnreadDisks) == 0 {
		return nil
	}
	return []remark{p.about(
		fmt.Sprintf("it is unknown whether the data of %s are destroyed: the volumes could not be read",
			phrase.FirstFew(KindNamesOf(p.Graph, p.UnreadDisks), maxNamed)), p.UnreadDisks...)}
}

// remarkIdle names the finalizers that nobody removes as long as their actors do not run.
func (p Plan) remarkIdle() []remark {
	var names []string
	var about []graph.ID
	for _, i := range p.Idle {
		about = append(about, i.Object)
		names = append(names, fmt.Sprintf("%s of %s, which is not running (%s)", Escape(i.Finalizer), Escape(i.Actor),
			Escape(strings.Join(i.Because, "; "))))
	}
	if len(names) == 0 {
		return nil
	}
	return []remark{p.about("waits for "+phrase.And(names)+": not removed until it is started", about...)}
}
