package render

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// UnfinalizeAction says in one line that an action was done.
func UnfinalizeAction(d unfinalize.Action) string {
	object, finalizers := Quoted(d.Object), Escape(strings.Join(d.Finalizers, ", "))
	switch {
	case d.Verb == plan.VerbOrphan:
		return fmt.Sprintf("%s lost %s to %s", object, phrase.Count(len(d.Owners), "reference"), KindName(d.Cause))
	case d.Verb == plan.VerbDelete && finalizers == "":
		return object + " deleted again"
	case d.Verb == plan.VerbDelete:
		return fmt.Sprintf("%s deleted again with the policy %s: %s removed", object, d.Policy, finalizers)
	case d.Verb == plan.VerbFinalizeNamespace:
		return fmt.Sprintf("%s finalized: %s removed from its spec", object, finalizers)
	}
	return fmt.Sprintf("%s: %s removed", object, finalizers)
}

// UnfinalizedNames writes the names of the objects that something was done to.
func UnfinalizedNames(w io.Writer, outcomes []*unfinalize.Outcome) error {
	outcomes = slices.DeleteFunc(slices.Clone(outcomes),
		func(o *unfinalize.Outcome) bool { return len(o.Done) == 0 && !o.Gone })
	return writeNames(w, slices.Values(outcomes), func(o *unfinalize.Outcome) graph.Ref { return o.Candidate.Ref })
}

// UnfinalizeOutcomes writes to out which objects are deleted and what stayed outside the cluster,
// and to errOut what is left and why.
func UnfinalizeOutcomes(out, errOut io.Writer, outcomes []*unfinalize.Outcome, known *finalizer.Registry) error {
	for _, o := range outcomes {
		var err error
		switch {
		case o.Gone:
			_, err = fmt.Fprintln(out, DeletedFrom(o.Candidate.Ref))
		case len(o.Done) > 0 && o.Unread == nil:
			_, err = fmt.Fprintf(errOut, "left: %s: %s\n", Quoted(o.Candidate.Ref), UnfinalizeRemains(o, known))
		}
		if err != nil {
			return err
		}
	}
	return LeftOutside(out, outcomes)
}

// UnfinalizeLeft says why an object is still there, and who put a finalizer back.
func UnfinalizeLeft(o *unfinalize.Outcome, known *finalizer.Registry) string {
	switch {
	case o.Unread != nil:
		return "it could not be read afterwards: " + o.Unread.Error()
	case len(o.PutBack) > 0:
		return putBackWords(o.PutBack[0])
	}
	return UnfinalizeRemains(o, known)
}

// UnfinalizeRemains says what is still on an object.
func UnfinalizeRemains(o *unfinalize.Outcome, known *finalizer.Registry) string {
	var parts []string
	var names []string
	for _, h := range o.Remaining {
		if h.Field == finalizer.InMetadata {
			names = append(names, h.Name)
		} else {
			parts = append(parts, fmt.Sprintf("%s is in its spec.finalizers", Escape(h.Name)))
		}
	}
	if len(names) > 0 {
		parts = append(parts, FinalizersOf(o.Candidate.Ref, names, known))
	}
	if o.Grace > 0 {
		grace := fmt.Sprintf("its grace period of %ds is pending", o.Grace)
		if o.Node != "" {
			grace += ", which the kubelet of node " + Escape(o.Node) + " ends"
		}
		parts = append(parts, grace)
	}
	switch {
	case o.Half:
		parts = append(
			parts, "nothing blocks its deletion, and the next write completes it: run the command again without --finalizer")
	case len(parts) == 0:
		parts = append(parts, "it is not being deleted")
	}
	return strings.Join(parts, "; ")
}

// UnfinalizeErrors are the errors of what was not done, or not for long. Interrupted says that ctx
// ended, so that objects whose error that is are only named.
func UnfinalizeErrors(outcomes []*unfinalize.Outcome, interrupted bool) error {
	var errs []error
	var unfinished []string
	for _, o := range outcomes {
		if interrupted && errors.Is(o.Err, context.Canceled) {
			unfinished = append(unfinished, KindName(o.Candidate.Ref))
			continue
		}
		errs = append(errs, unfinalizeError(o))
	}
	if len(unfinished) > 0 {
		errs = append(errs, answer.WithHint(errors.New("interrupted; not finished: "+SortedFew(unfinished)),
			"kubectl gc unfinalize TYPE/NAME lists the finalizers that are still there"))
	}
	return errors.Join(errs...)
}

// unfinalizeError is the error of what was not done, or not for long.
func unfinalizeError(o *unfinalize.Outcome) error {
	object := Quoted(o.Candidate.Ref)
	switch {
	case o.LeftAlone():
		return answer.Refuse(fmt.Errorf("%s was left alone: %w", object, o.Err))
	case o.Err != nil && !o.IsPutBack():
		return fmt.Errorf("%s: %w", object, o.Err)
	case o.Unread != nil:
		return fmt.Errorf("%s could not be read afterwards: %w", object, o.Unread)
	case len(o.PutBack) > 0:
		return answer.Refuse(answer.WithHint(fmt.Errorf("%s: %s", object, putBackWords(o.PutBack[0])),
			"stop or change what adds it before you remove it again"))
	}
	return nil
}

// putBackWords say who has put a finalizer back.
func putBackWords(b unfinalize.PutBack) string {
	name := b.Name
	switch {
	case b.Ignored:
		return name + " is still there: the server was asked for the policy Background and has not removed it"
	case b.InRequest && len(b.Webhooks) > 0:
		return fmt.Sprintf(
			"%s was put back in the same request, by a webhook or a policy that changes writes; these webhooks may be called: %s", name, strings.Join(b.Webhooks, ", "))
	case b.InRequest:
		return name + " was put back in the same request, by a webhook or a policy that changes writes"
	case b.Manager != "":
		return fmt.Sprintf("%s was put back by %q, as managedFields say: its controller is running and keeps adding it", name,
			b.Manager)
	}
	return name + " was put back, and managedFields do not say by whom: a controller is running and keeps adding it"
}
