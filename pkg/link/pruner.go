package link

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Pruner is how a program deletes what its source no longer has, and what it leaves. Its slices must
// not be changed.
type Pruner struct {
	// ID names it on the command line, as "argocd". One of the same ID that is loaded later takes
	// its place.
	ID string `json:"id"`
	// By is the program.
	By string `json:"by"`
	// Policy is how it deletes, and Policies are the exceptions, of which the first that applies to an
	// object counts.
	Policy   Policy        `json:"policy"`
	Policies []PrunePolicy `json:"policies,omitempty"`
	// Prunes say which objects it deletes: those that one of them describes.
	Prunes []Pruned `json:"prunes"`
	// Keep are alternatives of conditions on an object; where all of one are met it stays.
	Keep [][]Condition `json:"keep,omitempty"`
	// Parents say where an object names what it was applied for, in the forms Reference and Text,
	// and Never are alternatives of conditions on that; where all of one are met nothing is deleted.
	Parents []Ends        `json:"parents,omitempty"`
	Never   [][]Condition `json:"never,omitempty"`
	// Elsewhere says that a parent which does not exist may be in another cluster or namespace, so
	// that nothing follows from that.
	Elsewhere bool `json:"elsewhere,omitempty"`
	// Waits say when it does not delete an object by itself.
	Waits []PruneWait `json:"waits,omitempty"`
	// Verified says how the fields were checked: by the code at Source, or by the documentation
	// there.
	Verified Verified `json:"verified"`
	// Source is the https address where the fields were read.
	Source string `json:"source"`
}

// Pruned describes objects that a program prunes.
type Pruned struct {
	// Kinds are patterns; empty for all.
	Kinds []graph.KindPattern `json:"kinds,omitempty"`
	// Where are conditions that an object meets, all of them: what shows that the program has applied
	// it.
	Where []Condition `json:"where"`
}

// PruneWait is when a program deletes an object only once something else has happened.
type PruneWait struct {
	// Where are conditions on the object, and Parent on what it was applied for; all of them are met.
	Where  []Condition `json:"where,omitempty"`
	Parent []Condition `json:"parent,omitempty"`
	// Until is what has to happen, as a clause.
	Until string `json:"until"`
}

// PrunePolicy is how a program deletes what was applied for an object that meets all conditions of
// Parent.
type PrunePolicy struct {
	Parent []Condition `json:"parent"`
	Policy Policy      `json:"policy"`
}

// Applied is what an object was applied for, as it was read.
type Applied struct {
	Name   string
	Object map[string]any
}

// WaitsFor says for what the program waits before it deletes an object, each as a sentence without
// its full stop. Of parents that were not read nothing is said.
func (p *Pruner) WaitsFor(object map[string]any, parents []Applied) (says []string) {
	for _, w := range p.Waits {
		if !AllMet(w.Where, object) {
			continue
		}
		sentence := fmt.Sprintf("%s prunes it only once %s: ", p.By, w.Until)
		if len(w.Parent) == 0 {
			says = append(says, sentence+Describe(w.Where))
			continue
		}
		for _, parent := range parents {
			if AllMet(w.Parent, parent.Object) {
				says = append(says, sentence+Describe(w.Parent)+" of "+parent.Name)
			}
		}
	}
	return says
}

// PolicyFor returns how the program deletes what was applied for these objects. Of those that were not
// read nothing is known: it counts as its usual way.
func (p *Pruner) PolicyFor(parents []Applied) Policy {
	for _, other := range p.Policies {
		for _, parent := range parents {
			if AllMet(other.Parent, parent.Object) {
				return other.Policy
			}
		}
	}
	return p.Policy
}

// Leaves reports whether the program leaves an object, and why, as a clause. The group of the core
// is empty.
func (p *Pruner) Leaves(group, kind string, object map[string]any) (why string, leaves bool) {
	if because, met := AnyMet(p.Keep, object); met {
		return fmt.Sprintf("%s keeps it: %s", p.By, because), true
	}
	var lacks []string
	for _, of := range p.Prunes {
		switch {
		case !ofKinds(of.Kinds, group, kind):
			lacks = append(lacks, "by default it prunes no "+kind)
		case AllMet(of.Where, object):
			return "", false
		default:
			for _, c := range of.Where {
				if !c.met(object) {
					c.Not = !c.Not
					lacks = append(lacks, c.String())
				}
			}
		}
	}
	return fmt.Sprintf("%s does not prune it: %s", p.By, strings.Join(lacks, ", and ")), true
}

// ParentsOf returns what an object names that it was applied for. An error says what could not be
// understood.
func (p *Pruner) ParentsOf(object map[string]any) ([]Named, error) {
	named, _, err := (&Definition{Ends: p.Parents}).References(object)
	return named, err
}

// Check returns what is wrong with a pruner, each with what to do about it.
func (p *Pruner) Check() []error {
	var errs Problems
	errs.Add("", required("id", p.ID), required("by", p.By), OneOf("policy", p.Policy, policies),
		OneOf("verified", p.Verified, verified))
	if !strings.HasPrefix(p.Source, "https://") {
		errs.Add("", fmt.Errorf(`"source" is %q: give the https:// address where it can be read`, p.Source))
	}
	if len(p.Prunes) == 0 {
		errs.Add("", errors.New(`"prunes" is empty: say which objects the program has applied`))
	}
	for i, of := range p.Prunes {
		where := fmt.Sprintf(`"prunes", number %d: `, i+1)
		errs.Add(where, checkKinds(of.Kinds))
		errs.Add(where, checkConditions(of.Where)...)
		errs.Add(where, checkInMetadata(of.Where))
		if len(of.Where) == 0 {
			errs.Add(where, errors.New(`"where" is empty: say what shows that the program has applied an object`))
		}
	}
	errs.Add(`"keep", `, CheckAlternatives(p.Keep)...)
	for _, all := range p.Keep {
		errs.Add(`"keep": `, checkInMetadata(all))
	}
	errs.Add(`"never", `, CheckAlternatives(p.Never)...)
	for i, other := range p.Policies {
		where := fmt.Sprintf(`"policies", number %d: `, i+1)
		errs.Add(where, OneOf("policy", other.Policy, policies))
		errs.Add(where, CheckAlternatives([][]Condition{other.Parent})...)
	}
	for i, w := range p.Waits {
		where := fmt.Sprintf(`"waits", number %d: `, i+1)
		errs.Add(where, required("until", w.Until), checkInMetadata(w.Where))
		errs.Add(where, CheckAlternatives([][]Condition{append(w.Where[:len(w.Where):len(w.Where)], w.Parent...)})...)
	}
	for i, e := range p.Parents {
		where := fmt.Sprintf(`"parents", number %d: `, i+1)
		if e.Form != Reference && e.Form != Text || !e.inMetadata() {
			errs.Add(where, errors.New(`"form" must be reference or text, of a field of the metadata`))
			continue
		}
		errs.Add(where, e.check()...)
	}
	return errs
}

// checkInMetadata refuses conditions for which an object would have to be read whole.
func checkInMetadata(conditions []Condition) error {
	for _, c := range conditions {
		if !c.inMetadata() {
			return fmt.Errorf("%s is not in the metadata, which is all that is read", c.path())
		}
	}
	return nil
}
