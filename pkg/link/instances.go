package link

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// instances are all objects of the kinds that an object names.
func (e Ends) instances(object map[string]any) ([]Members, error) {
	values, err := e.values(object)
	if err != nil {
		return nil, err
	}
	var all []Members
	for _, v := range values {
		n := e.fromReference(v)
		if n.Kind == "" || strings.ContainsAny(n.Group+n.Kind, `*?[]\/ ,`) { // which stand for others in a pattern
			continue
		}
		group := n.Group
		if group == "" {
			group = "v1"
		}
		all = append(all, Members{Kinds: []graph.KindPattern{graph.KindPattern(group + "/" + n.Kind)}, Field: e.Field.String()})
	}
	return all, nil
}
