package plan

import (
	"fmt"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Denials say what the user may not do, a line for each verb, type and namespace. Objects are named
// if others of the type there are not forbidden. Text that objects supply is not escaped.
func (p *Plan) Denials() []string {
	type class struct{ verb, resource, group, subresource, namespace string }
	of := func(f Forbidden) class {
		r := p.Graph.Ref(f.Object)
		return class{f.Verb, f.Resource, r.Group(), f.Subresource, r.Namespace}
	}
	forbidden := map[graph.ID]bool{}
	for _, f := range p.Forbidden {
		forbidden[f.Object] = true
	}
	allowed := map[[3]string]bool{}
	for _, a := range p.Actions {
		if r := p.Graph.Ref(a.Object); a.By == ByClient && !forbidden[a.Object] {
			allowed[[3]string{r.Group(), r.Resource, r.Namespace}] = true
		}
	}
	var classes []class
	names := map[class][]string{}
	for _, f := range p.Forbidden {
		c := of(f)
		if names[c] == nil {
			classes = append(classes, c)
		}
		names[c] = append(names[c], strconv.Quote(p.Graph.Name(f.Object)))
	}
	var lines []string
	for _, c := range classes {
		named := ""
		if allowed[[3]string{c.group, c.resource, c.namespace}] {
			named = " " + phrase.SortedFew(names[c])
		}
		lines = append(lines, denial(c.verb, c.resource, c.group, c.subresource, named, c.namespace))
	}
	return lines
}

// Denial says which permission a write lacks, with what the authorizer says about it.
func (p *Plan) Denial(f Forbidden) string {
	r := p.Graph.Ref(f.Object)
	s := denial(f.Verb, f.Resource, r.Group(), f.Subresource, " "+strconv.Quote(r.Name), r.Namespace)
	if f.Reason != "" {
		s += ": " + f.Reason
	}
	return s
}

// denial words a right that is missing: you may not delete deployments.apps in namespace "shop".
func denial(verb, resource, group, subresource, named, namespace string) string {
	if group != "" {
		resource += "." + group
	}
	if subresource != "" {
		resource += "/" + subresource
	}
	s := fmt.Sprintf("you may not %s %s%s", verb, resource, named)
	if namespace != "" {
		s += " in namespace " + strconv.Quote(namespace)
	}
	return s
}
