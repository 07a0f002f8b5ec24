package plan

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Recreated is an object that a program creates again when it is deleted, because another object
// still names it.
type Recreated struct {
	// Object is deleted, and Owner is the object that names it, in Field.
	Object, Owner graph.ID
	Field         string
	// Program is who creates it, and With what does; empty if the program does it of its own
	// accord.
	Program, With string
	// Only says that the owner names nothing else by this link.
	Only bool
	// Confirmed says that the object names the owner too.
	Confirmed bool
}

// recreated finds them by the links above what is deleted, where the source stays and says that its
// program creates them.
func (p *Plan) recreated() []Recreated {
	if p.options.Links == nil {
		return nil
	}
	var recreated []Recreated
	for _, id := range p.Deleted {
		for _, f := range p.options.Links.Above(id) {
			if f.Recreation == nil || !p.lives(f) || knownAs(recreated, id, f.Source) {
				continue
			}
			recreated = append(recreated, Recreated{
				Object: id, Owner: f.Source, Field: f.Field, Program: f.Recreation.By, With: f.Recreation.With, Only: p.only(f),
				Confirmed: f.Confirmed,
			})
		}
	}
	return recreated
}

// knownAs says whether it is known already that an owner names an object: by another field, or in
// two items of a list.
func knownAs(recreated []Recreated, object, owner graph.ID) bool {
	for i := len(recreated) - 1; i >= 0 && recreated[i].Object == object; i-- {
		if recreated[i].Owner == owner {
			return true
		}
	}
	return false
}

// lives says whether the source of a link is there in the end and is not being deleted.
func (p *Plan) lives(f link.Found) bool {
	return f.Outside || p.Graph.Observed(f.Source) && !p.end.is(f.Source, gone|deleting)
}

// only says whether a link's source names a single object by it.
func (p *Plan) only(f link.Found) bool {
	if f.More {
		return false
	}
	for _, other := range p.options.Links.Found(f.Source) {
		if other.Definition == f.Definition && other.End != f.End {
			return false
		}
	}
	return true
}
