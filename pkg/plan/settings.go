package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// settings are the writes that have programs delete in the foreground what the roots name, one for
// each field. For what is absent there is nothing to set.
func (p *Plan) settings() []Action {
	if p.options.Links == nil {
		return nil
	}
	var actions []Action
	for _, root := range p.Roots {
		for _, f := range p.options.Links.Found(root) {
			setting := &Setting{f.Definition.Deletion.PolicyField, f.Definition.Deletion.Foreground}
			known := slices.ContainsFunc(actions,
				func(a Action) bool { return a.Object == root && a.Setting.Field.String() == setting.Field.String() })
			if f.Foreground && f.Source == root && !known && p.Graph.State(f.End) != graph.Absent {
				actions = append(actions, Action{
					Verb: VerbSetPolicy, Object: root, Setting: setting, By: ByClient,
					Because: Reason{Code: LinkForeground, Cause: f.End, HasCause: true},
				})
			}
		}
	}
	return actions
}
