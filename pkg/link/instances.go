package link

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// anyKind as the kind of instances means all kinds of the group.
const anyKind = "*"

// patterns are characters that stand for others in a pattern of kinds.
const patterns = `*?[]\/ ,`

// maxKinds is how many kinds an object may name: each is looked for among all objects.
const maxKinds = 500

// instances are all objects of the kinds that an object names, or of all kinds of the group.
func (e Ends) instances(object map[string]any) ([]Members, error) {
	values, err := e.values(object)
	if err != nil {
		return nil, err
	}
	of := e
	if e.Kind == anyKind {
		of.Kind = ""
	}
	var all []Members
	seen := map[string]bool{}
	for _, v := range values {
		n := of.fromReference(v)
		group, kind := cmp.Or(n.Group, "v1"), n.Kind
		if strings.ContainsAny(group+kind, patterns) || kind == "" && e.Kind != anyKind {
			continue
		}
		kind = cmp.Or(kind, anyKind)
		if seen[group+"/"+kind] {
			continue
		}
		if len(all) == maxKinds {
			return all, fmt.Errorf("%s names more than %d kinds, and the others are not looked at", e.Field, maxKinds)
		}
		seen[group+"/"+kind] = true
		all = append(all, Members{Kinds: []graph.KindPattern{graph.KindPattern(group + "/" + kind)}, Field: e.Field.String(),
			Category: e.Category})
	}
	return all, nil
}
