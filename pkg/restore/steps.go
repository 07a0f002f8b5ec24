package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// plan lists what is done, in its order, and what is not.
func (d *decider) plan() *Plan {
	p := &Plan{File: d.file, Head: d.head, opts: d.opts, index: d.index, types: d.types, copies: map[string]string{}}
	for _, it := range d.items {
		switch d.fates[it.number] {
		case created, applied:
			p.Steps = append(p.Steps, d.write(it))
		case alive:
			if d.proofs[it.number].copied && d.isRestored(it) {
				p.copies[it.ref.UID] = d.uids[it.number]
			}
			if s, some := d.refer(it); some {
				p.Steps = append(p.Steps, s)
				delete(d.whys, it.number)
			}
			if d.live[it.number].bare {
				s := d.there(it, SetStatus)
				s.wave = anyWave
				p.Steps = append(p.Steps, s)
				delete(d.whys, it.number)
			}
		}
		if s, some := d.rebind(it); some {
			p.Steps = append(p.Steps, s)
		}
		if why, ok := d.whys[it.number]; ok {
			if d.fates[it.number] == held {
				p.Held = append(p.Held, why)
			} else {
				p.Left = append(p.Left, why)
			}
		}
	}
	slices.SortStableFunc(p.Steps, func(a, b Step) int { return cmp.Compare(a.wave, b.wave) })
	return p
}

// write is the step that creates or applies an object.
func (d *decider) write(it *item) Step {
	s := Step{Verb: Create, Object: it.ref, Type: d.types[it.number], item: it, maker: d.maker(it, d.comes),
		wave: d.waves[it.number]}
	if d.fates[it.number] == applied {
		s.Verb, s.Object.UID = Apply, d.uids[it.number]
	}
	s.Object.Resource = s.Type.Resource
	for _, r := range it.owners {
		ref, ok, _ := d.resolve(it, r)
		switch owner := d.byUID[string(r.UID)]; {
		case !ok:
			s.Notes = append(s.Notes, "without its reference to "+d.missing(it, r))
		case ref.NewUID == "" && !isBefore(d.waves, owner, it):
			s.Late = append(s.Late, ref)
		default:
			s.References = append(s.References, ref)
		}
	}
	if it.kind() == kindClaim && s.Verb == Create && it.facts.volume != "" {
		d.bind(it, &s)
	}
	return s
}

// bind says what becomes of the volume of a claim.
func (d *decider) bind(it *item, s *Step) {
	name := it.facts.volume
	if archived := d.places[place{kindVolume, "", name}]; archived != nil && d.fates[archived.number] == created {
		return
	}
	switch v := d.volumes[name]; {
	case v.err != nil:
		s.Notes = append(
			s.Notes, fmt.Sprintf("whether its volume %s exists cannot be read; it stays Pending without it", name))
	case !v.found:
		s.unbound = true
		s.Notes = append(s.Notes, fmt.Sprintf("with a new volume: %s is gone, and so are the data", name))
	}
}

// rebind is the step that gives a volume the new uid of its claim.
func (d *decider) rebind(it *item) (Step, bool) {
	f := d.fates[it.number]
	if it.kind() != kindClaim || it.facts.volume == "" || f != created && (f != alive || !d.isRestored(it)) {
		return Step{}, false
	}
	v := d.volumes[it.facts.volume]
	if !v.found || v.claimUID != it.ref.UID || !v.of(it) {
		return Step{}, false
	}
	return Step{
		Verb: Rebind, Type: v.Type, Object: v.Ref("", it.facts.volume, v.uid),
		item: it, claim: it, claimUID: d.uids[it.number], wave: d.waves[it.number],
		Notes: []string{fmt.Sprintf("for claim %s in namespace %s", it.ref.Name, it.ref.Namespace)},
	}, true
}

// there is a step for an object that is there.
func (d *decider) there(it *item, verb plan.Verb) Step {
	s := Step{Verb: verb, Object: it.ref, Type: d.types[it.number], item: it, wave: lastWave + 1}
	s.Object.UID, s.Object.Resource = d.uids[it.number], s.Type.Resource
	return s
}

// refer is the step that gives an object that is there the references to owners that have another
// uid now. References that somebody has taken off although the owner is still the same stay off.
func (d *decider) refer(it *item) (Step, bool) {
	now := d.live[it.number]
	if !d.wanted[it.number] || now.deleting {
		return Step{}, false
	}
	s := d.there(it, Refer)
	for _, r := range it.owners {
		ref, ok, _ := d.resolve(it, r)
		if !ok || ref.NewUID == string(r.UID) || now.refersTo(ref.NewUID) {
			continue
		}
		if c := now.controllerBesides(string(r.UID)); c != "" && IsController(r) {
			s.Notes = append(s.Notes, "without its reference to "+ownerName(r)+": it has another controller, "+c)
			continue
		}
		s.References = append(s.References, ref)
	}
	return s, len(s.References) > 0
}

// references gives references the uids that their owners have now. In a dry run those of owners
// that are not there are left out.
func (r *performer) references(ctx context.Context, planned []Reference) ([]metav1.OwnerReference, error) {
	var all []metav1.OwnerReference
	for _, ref := range planned {
		uid := ref.NewUID
		if uid == "" {
			if r.opts.DryRun {
				continue
			}
			if uid = r.uidOf(ctx, r.plan.itemOf(string(ref.UID))); uid == "" {
				return nil, fmt.Errorf("%w: %s", ErrOwnerFailed, ownerName(ref.OwnerReference))
			}
		}
		out := ref.OwnerReference
		out.UID = types.UID(uid)
		all = append(all, out)
	}
	return all, nil
}

// relabel gives labels that have the archived uid of an owner its new one, as a Job finds its pods.
func relabel(o *unstructured.Unstructured, planned []Reference, references []metav1.OwnerReference) {
	if len(planned) != len(references) {
		return // a dry run, in which not all uids are known
	}
	labels := o.GetLabels()
	for key, value := range labels {
		for i := range planned {
			if value == string(planned[i].UID) {
				labels[key] = string(references[i].UID)
			}
		}
	}
	if len(labels) > 0 {
		o.SetLabels(labels)
	}
}

// writeReferences adds the references that objects get after they are there, and gives volumes the
// new uids of their claims.
func (r *performer) writeReferences(ctx context.Context) {
	cluster.Each(r.client, r.plan.Steps, func(i int, _ Step) {
		switch s := &r.plan.Steps[i]; {
		case s.Verb == Refer:
			r.note(i, r.refer(ctx, s, s.Object.UID, s.References))
		case s.Verb == Rebind:
			r.note(i, r.rebind(ctx, s))
		case len(s.Late) > 0 && r.results[i].isDone() && !r.opts.DryRun:
			late := r.refer(ctx, s, r.results[i].UID, s.Late)
			if late.Err != nil {
				r.note(i, late)
			}
		}
	})
}

// refer adds references to an object that has the uid.
func (r *performer) refer(ctx context.Context, s *Step, uid string, planned []Reference) outcome {
	if r.opts.DryRun {
		return outcome{unasked: true}
	}
	references, err := r.references(ctx, planned)
	if err != nil {
		return s.failed(err)
	}
	_, err = r.object(s, uid).Patch(ctx, change.Patch{
		Decide: func(now *graph.Object) ([]cluster.PatchStep, error) {
			if now.DeletionTimestamp != 0 {
				return nil, errors.New("it is being deleted")
			}
			return additions(now, planned, references), nil
		},
		Verify: func(answered *graph.Object) error {
			for _, ref := range references {
				if !change.HasOwner(answered, string(ref.UID)) {
					return fmt.Errorf("the reference to %s: %w", ownerName(ref), change.ErrNotShown)
				}
			}
			return nil
		},
	})
	if err != nil {
		return s.failed(err)
	}
	return s.done(uid)
}

// additions are the steps that give an object references: in place of those to the archived owners,
// or after the others.
func additions(now *graph.Object, planned []Reference, references []metav1.OwnerReference) []cluster.PatchStep {
	var steps []cluster.PatchStep
	n := len(now.Owners)
	for i, ref := range references {
		old := string(planned[i].UID)
		at := slices.IndexFunc(now.Owners, func(r graph.OwnerReference) bool { return r.UID == old })
		switch {
		case change.HasOwner(now, string(ref.UID)):
		case at >= 0:
			steps = append(steps, change.ReplaceReference(at, old, ref)...)
		default:
			steps = append(steps, change.AddReference(n, n, ref))
			n++
		}
	}
	return steps
}
