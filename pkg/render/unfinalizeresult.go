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
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// UnfinalizeEvents writes a line for each write that was done.
func UnfinalizeEvents(w io.Writer) func(plan.Event) { return eachDone(w, unfinalizeLine) }

func unfinalizeLine(d plan.Write) string {
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
			_, err = fmt.Fprintln(out, deletedFrom(o.Candidate.Ref))
		case len(o.Done) > 0 && o.Unread == nil:
			note(errOut, "left: %s: %s", Quoted(o.Candidate.Ref), unfinalizeRemains(o, known))
		}
		if err != nil {
			return err
		}
	}
	return leftOutside(out, outcomes)
}

// UnfinalizeLeft says why an object is still there, and who put a finalizer back.
func UnfinalizeLeft(o *unfinalize.Outcome, known *finalizer.Registry) string {
	switch {
	case o.Unread != nil:
		return "it could not be read afterwards: " + o.Unread.Error()
	case len(o.PutBack) > 0:
		return putBackWords(o.PutBack[0])
	}
	return unfinalizeRemains(o, known)
}

// unfinalizeRemains says what is still on an object.
func unfinalizeRemains(o *unfinalize.Outcome, known *finalizer.Registry) string {
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
		errs = append(errs, answer.WithHint(errors.New("interrupted; not finished: "+sortedFew(unfinished)),
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

// Question is asked where a plan has none of its own, and is the end of one that has.
const Question = "Do you want to continue? (y/N): "

// UnfinalizeQuestion asks for what is done and for all that comes of it: data first, then what is
// left undone, and what follows. It is wrapped as Paragraphs are.
func UnfinalizeQuestion(p *unfinalize.Planned, s Style) string {
	p = p.Allowed()
	var sentences, undone []string
	var follow []graph.Ref
	stopped := false
	for _, c := range p.Candidates() {
		for _, v := range c.Assessments {
			for _, r := range v.Refusals {
				if line := "Finalizer " + v.Name + ": " + r.Because + leavesOutside(c) + "."; r.Asks() &&
					!slices.Contains(undone, line) {
					undone = append(undone, line)
				}
			}
		}
		if c.After() != nil {
			follow = append(follow, c.After().Deleted...)
			stopped = stopped || len(c.After().Stopped) > 0
		}
	}
	if disks := allDisks(p); len(disks) > 0 {
		sentences = append(sentences, phrase.Sentence("this "+status.Destroys(disks)))
	}
	if n := len(undone) - phrase.MaxNamed; n > 0 {
		undone = append(undone[:phrase.MaxNamed], fmt.Sprintf("And so on for %d more.", n))
	}
	sentences = append(sentences, undone...)
	if len(follow) > 0 {
		then := "Then the garbage collector deletes"
		if stopped {
			then = "The garbage collector does not run. Once it does, it deletes"
		}
		sentences = append(sentences, fmt.Sprintf("%s %s: %s.", then, phrase.Count(len(follow), "object"),
			phrase.And(kindNames(follow...))))
	}
	for i := range sentences {
		sentences[i] = Escape(sentences[i])
	}
	var out strings.Builder
	_ = Paragraphs(&out, sentences, s) // to memory, which cannot fail
	return out.String() + Question
}

// leavesOutside names what is left outside the cluster.
func leavesOutside(c *unfinalize.Candidate) string {
	outside := c.Outside()
	if len(outside) == 0 {
		return ""
	}
	return " (" + KindName(c.Ref) + ": " + strings.Join(outside, "; ") + ")"
}

// UnfinalizeLosses writes what is destroyed, deleted and left behind by a plan that nobody is asked
// about.
func UnfinalizeLosses(w io.Writer, p *unfinalize.Planned) error {
	good := p.Allowed()
	return Paragraphs(w, slices.Concat(diskLines(good), afterLines(good), strandedLines(p)), Style{})
}

// UnfinalizeRefusal is the refusal for what a plan refuses; nil if that is nothing. KeepGoing says
// that the others are done.
func UnfinalizeRefusal(p *unfinalize.Planned, keepGoing bool) error {
	refused := p.Refused()
	if len(refused) == 0 {
		return nil
	}
	r := refused[0]
	first := Quoted(r.Candidate.Ref) + ": "
	if r.Assessment.Name != "" {
		first += r.Assessment.Name + ": "
	}
	against := r.Assessment.Against(p.Overrides)[0]
	first += against.Because
	first += phrase.More(" (and %d more refused)", len(refused)-1)
	what := "nothing was removed: "
	if keepGoing {
		what = "refused: "
	}
	return answer.Refuse(answer.WithHint(errors.New(what+first),
		refusalHint(against, len(p.Candidates()) > 1 && !keepGoing)))
}

// refusalHint says what to do about a refusal; others says that there are objects that could be
// done without it.
func refusalHint(r unfinalize.Refusal, others bool) string {
	parts := []string{}
	if r.Hint != "" {
		parts = append(parts, strings.TrimSuffix(r.Hint, "."))
	}
	if r.Asks() {
		parts = append(parts, "on a terminal, without --yes, you are asked")
	}
	if r.Override != unfinalize.Never && !strings.Contains(r.Hint, string(r.Override)) {
		parts = append(parts, string(r.Override)+" overrides this")
	}
	if others {
		parts = append(parts, "--keep-going skips objects that are refused")
	}
	return strings.Join(parts, "; ")
}
