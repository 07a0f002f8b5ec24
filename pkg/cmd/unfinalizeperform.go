package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// save writes the archive of what is about to be changed. With an error nothing is taken off and there is no file.
func (f *unfinalizeFlags) save(ctx context.Context, client *cluster.Client, cases judged, terms unfinalize.Terms, gaps []v1alpha1.Gap) error {
	if f.archive == "" {
		return nil
	}
	g, ids := changedObjects(cases.all())
	saved, err := archive.Save(ctx, client, f.archive, &plan.Plan{Graph: g, Roots: ids}, f.planObject(cases.all(), terms, gaps))
	var unread *cluster.UnreadError
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &unread):
		return refusal{withHint(fmt.Errorf("nothing was taken off: the archive would not be whole: %w", err), "to go on without a copy, leave --archive out")}
	case err != nil:
		return fmt.Errorf("nothing was taken off: writing the archive: %w", err)
	}
	for _, ref := range saved.Gone {
		fmt.Fprintf(f.ErrOut, "Warning: %s is not in the archive: it is not there any more\n", withNamespace(ref, " in "))
	}
	fmt.Fprintf(f.ErrOut, "archived %s in %s\n", countWords(saved.Objects, "object"), render.Escape(f.archive))
	return nil
}

// changedObjects are the objects of some cases and the dependents that lose their references, as a graph.
func changedObjects(cases []*unfinalize.Case) (*graph.Graph, []graph.ID) {
	b := graph.NewBuilder()
	add := func(t graph.Type, o graph.Object) {
		b.Serve(t)
		list := b.Listing(t, o.Namespace)
		list.Add(o)
		list.Complete()
	}
	for _, c := range cases {
		o := graph.Object{Namespace: c.Ref.Namespace, Name: c.Ref.Name, UID: c.Ref.UID, Finalizers: c.Object.GetFinalizers()}
		for _, r := range c.Object.GetOwnerReferences() {
			o.Owners = append(o.Owners, graph.OwnerReference{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID)})
		}
		add(c.Type, o)
		for _, d := range c.Dependents {
			owner := graph.OwnerReference{APIVersion: c.Ref.APIVersion, Kind: c.Ref.Kind, Name: c.Ref.Name, UID: c.Ref.UID}
			add(d.Type, graph.Object{Namespace: d.Ref.Namespace, Name: d.Ref.Name, UID: d.Ref.UID, Owners: []graph.OwnerReference{owner}})
		}
	}
	g := b.Build()
	var ids []graph.ID
	for i := range g.Len() {
		if id := graph.ID(i); g.Seen(id) {
			ids = append(ids, id)
		}
	}
	return g, ids
}

// perform does what was agreed to and says what came of it.
func (f *unfinalizeFlags) perform(ctx context.Context, client *cluster.Client, good, cases judged, r *unfinalizeRequest, gaps []v1alpha1.Gap) error {
	outcomes := unfinalize.Perform(ctx, client, good, unfinalize.Options{Terms: r.terms, Selector: r.selector, KeepGoing: f.keepGoing, Tell: f.tell})
	if !f.output.isOwn() {
		if err := f.output.write(f.Out, f.resultObject(outcomes, cases.all(), good.all(), r.terms, gaps)); err != nil {
			return err
		}
	}
	var errs []error
	var unfinished []string
	for _, o := range outcomes {
		f.report(o)
		if ctx.Err() != nil && errors.Is(o.Err, context.Canceled) {
			unfinished = append(unfinished, shortName(o.Case.Ref))
			continue
		}
		errs = append(errs, outcomeError(o))
	}
	errs = append(errs, f.tellOutside(outcomes))
	if len(unfinished) > 0 {
		errs = append(errs, withHint(errors.New("interrupted; not finished: "+enumerate(unfinished)), "kubectl gc unfinalize TYPE/NAME lists the finalizers that are still there"))
	}
	return errors.Join(errs...)
}

// tellOutside says what stayed outside the cluster.
func (f *unfinalizeFlags) tellOutside(outcomes []*unfinalize.Outcome) error {
	if !f.output.isOwn() || f.output.format() == "name" {
		return nil
	}
	return render.Paragraphs(f.Out, leftLines(outcomes), render.Style{})
}

// tell prints a line for each write.
func (f *unfinalizeFlags) tell(d unfinalize.Done) {
	if !f.output.isOwn() || f.output.format() == "name" {
		return
	}
	fmt.Fprintln(f.Out, doneLine(d))
}

func doneLine(d unfinalize.Done) string {
	object, finalizers := withNamespace(d.Object, " in "), render.Escape(strings.Join(d.Finalizers, ", "))
	switch {
	case d.Verb == plan.VerbOrphan:
		return fmt.Sprintf("%s lost %s to %s", object, countWords(len(d.Owners), "reference"), shortName(d.Cause))
	case d.Verb == plan.VerbDelete && finalizers == "":
		return object + " deleted again"
	case d.Verb == plan.VerbDelete:
		return fmt.Sprintf("%s deleted again with the policy %s: %s came off", object, d.Policy, finalizers)
	case d.Verb == plan.VerbFinalizeNamespace:
		return fmt.Sprintf("%s finalized: %s came off its spec", object, finalizers)
	}
	return fmt.Sprintf("%s: %s came off", object, finalizers)
}

// report says what has become of an object.
func (f *unfinalizeFlags) report(o *unfinalize.Outcome) {
	switch {
	case !f.output.isOwn() || len(o.Done) == 0 && !o.Gone:
	case f.output.format() == "name":
		fmt.Fprintln(f.Out, render.Escape(kindOf(o.Case.Ref)+"/"+o.Case.Ref.Name))
	case o.Gone:
		fmt.Fprintln(f.Out, withNamespace(o.Case.Ref, " deleted from "))
	case o.Unread == nil:
		fmt.Fprintf(f.ErrOut, "left: %s: %s\n", withNamespace(o.Case.Ref, " in "), f.leftBecause(o))
	}
}

// leftBecause says why an object is still there.
func (f *unfinalizeFlags) leftBecause(o *unfinalize.Outcome) string {
	var parts []string
	var names []string
	for _, h := range o.Left {
		if h.Field == finalizer.InMetadata {
			names = append(names, h.Name)
		} else {
			parts = append(parts, fmt.Sprintf("%s is in its spec.finalizers", render.Escape(h.Name)))
		}
	}
	if len(names) > 0 {
		known, _ := f.known() // without it the finalizers are named all the same
		parts = append(parts, allHeldBy(o.Case.Ref, names, known))
	}
	if o.Grace > 0 {
		grace := fmt.Sprintf("its grace period of %ds is pending", o.Grace)
		if o.Node != "" {
			grace += ", which the kubelet of node " + render.Escape(o.Node) + " ends"
		}
		parts = append(parts, grace)
	}
	switch {
	case o.Half:
		parts = append(parts, "nothing holds it, and the next write ends it: run the command again without --finalizer")
	case len(parts) == 0:
		parts = append(parts, "it is not being deleted")
	}
	return strings.Join(parts, "; ")
}

// leftAlone says whether an error is of an object that nothing was done to on purpose.
func leftAlone(err error) bool {
	var moved *unfinalize.RefusedError
	return errors.As(err, &moved) || errors.Is(err, unfinalize.ErrReplaced) || errors.Is(err, unfinalize.ErrNotReached) || errors.Is(err, unfinalize.ErrNotSelected)
}

// outcomeError is the error of what was not done, or not for long.
func outcomeError(o *unfinalize.Outcome) error {
	object := withNamespace(o.Case.Ref, " in ")
	var back *cluster.PutBackError
	switch {
	case leftAlone(o.Err):
		return refusal{fmt.Errorf("%s was left alone: %w", object, o.Err)}
	case o.Err != nil && !(errors.As(o.Err, &back) && len(o.PutBack) > 0):
		return fmt.Errorf("%s: %w", object, o.Err)
	case o.Unread != nil:
		return fmt.Errorf("%s could not be read afterwards: %w", object, o.Unread)
	case len(o.PutBack) > 0:
		return refusal{withHint(fmt.Errorf("%s: %s", object, putBackWords(o.PutBack[0])), "stop, or change, what puts it there before you take it off again")}
	}
	return nil
}

// putBackWords say who has put a finalizer back.
func putBackWords(b unfinalize.PutBack) string {
	name := b.Name
	switch {
	case b.Ignored:
		return name + " is still there: the server was asked for the policy Background and has not taken it off"
	case b.InRequest && len(b.Webhooks) > 0:
		return fmt.Sprintf("%s was put back in the same request, by something that admits writes; these webhooks may change them: %s", name, strings.Join(b.Webhooks, ", "))
	case b.InRequest:
		return name + " was put back in the same request, by a webhook or a policy that admits writes"
	case b.Manager != "":
		return fmt.Sprintf("%s was put back by %q, as managedFields say: its controller is alive, and this fights it", name, b.Manager)
	}
	return name + " was put back, and managedFields do not say by whom: a controller is alive, and this fights it"
}
