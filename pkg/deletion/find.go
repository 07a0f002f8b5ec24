package deletion

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// ErrNoMatch is why an object is left out that matched the selector when the server was asked
// first.
var ErrNoMatch = errors.New("it no longer matches the selector")

// find finds the objects in the listing. An object that has another uid there than when it was
// resolved, or that no longer matches the selector, is left out. One that is not there at all is
// missing.
func (pl *planner) find(ctx context.Context, query *selection.Query, objects []selection.Object,
	p *Planned) ([]graph.ID, error) {
	g := p.Snapshot.Graph
	matches, err := pl.request.Selection.MatchAgain(ctx, pl.client, g, objects)
	if err != nil {
		return nil, err
	}
	var ids []graph.ID
	var unlisted []selection.Object
	for _, o := range objects {
		id, ok := o.Lookup(g)
		switch {
		case !ok:
			unlisted = append(unlisted, o)
		case !pl.besides[o.UID] && !matches(o, id):
			p.LeftOut = append(p.LeftOut, LeftOut{o.Ref(), ErrNoMatch})
		default:
			ids = append(ids, id)
			if o.Source != "" {
				p.sources[g.Ref(id).UID] = o.Source
			}
		}
	}
	for i, err := range query.ExplainAll(ctx, g, unlisted) {
		switch {
		case errors.Is(err, selection.ErrAnother):
			p.LeftOut = append(p.LeftOut, LeftOut{unlisted[i].Ref(), err})
		case pl.request.IgnoreNotFound && apierrors.IsNotFound(err):
		default:
			p.Missing = append(p.Missing, err)
		}
	}
	return ids, nil
}
