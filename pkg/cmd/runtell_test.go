package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// evil is text that an object or a server supplies and that would change what a terminal shows.
const evil = "x\x1b[31m\x1b]0;title\a\r\u009b2J\u202e\u2028y"

func newTestRun(format string, watch bool) (*runFlags, *bytes.Buffer) {
	var out bytes.Buffer
	f := &runFlags{common: &common{IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}}, output: newOutputFlags("wide", "name"), watch: watch}
	f.known, f.color = f.loadKnown, "never"
	*f.output.print.OutputFormat = format
	return f, &out
}

// hostileGraph has a dependent of an owner that is gone, one that finalizers hold, and one that nobody can judge, all of whose texts are hostile.
func hostileGraph() *graph.Graph {
	b := graph.NewBuilder()
	t := graph.Type{Group: "g" + evil, Version: "v1", Resource: "things" + evil, Kind: "Thing" + evil, Namespaced: true}
	b.Serve(t)
	l := b.Listing(t, "")
	ref := func(apiVersion string) []graph.OwnerReference {
		return []graph.OwnerReference{{APIVersion: apiVersion, Kind: "Thing" + evil, Name: "nobody" + evil, UID: "nobody" + apiVersion}}
	}
	l.Add(
		graph.Object{Namespace: "ns" + evil, Name: "a" + evil, UID: "a", Owners: ref(t.APIVersion())},
		graph.Object{Namespace: "ns" + evil, Name: "b" + evil, UID: "b", Deleted: 1, Finalizers: []string{"example.com/" + evil}},
		graph.Object{Namespace: "ns" + evil, Name: "c" + evil, UID: "c", Owners: ref("unserved/" + evil)},
	)
	l.Complete()
	return b.Build()
}

// TestRunEscapesWhatObjectsAndServersSay: nothing that run prints on a terminal has a control character that an object or a server supplied.
func TestRunEscapesWhatObjectsAndServersSay(t *testing.T) {
	g := hostileGraph()
	p := plan.NewRun(g, plan.Options{})
	a, _ := g.Lookup("a")
	for _, format := range []string{"", "wide", "name"} {
		for _, watch := range []bool{false, true} {
			f, out := newTestRun(format, watch)
			teller := newRunTeller(f)
			for _, verb := range []plan.Verb{plan.VerbDelete, plan.VerbOrphan, plan.VerbUnblock, plan.VerbRemoveFinalizer} {
				action := collect.Action{Verb: verb, Object: g.Ref(a), Owners: []string{"nobody"}, Held: []string{evil}, Because: plan.OwnersGone, Cause: g.Ref(a), Policy: plan.Foreground}
				teller.tell(collect.Event{Action: action})
				teller.tell(collect.Event{Action: action, Err: errors.New(evil)})
			}
			teller.warned(g.Ref(a), nil)
			teller.warned(g.Ref(a), errors.New("events is forbidden: "+evil))
			teller.paused(errors.New(evil))
			teller.paused(&collect.MassError{Masses: []plan.Mass{{Group: evil, Kind: evil, Gone: 12}}})
			teller.paused(nil)
			proposal := &collect.Proposal{Survey: &collect.Survey{Graph: g, Gaps: []v1alpha1.Gap{{Resource: evil, Message: evil}}}, Plan: p, Growth: plan.Growth{Deleted: []graph.ID{a}, Written: []graph.ID{a}}}
			fmt.Fprintln(out, grownWords(proposal))
			shown := newPlannedRun(proposal, nil)
			if err := f.show(shown); err != nil {
				t.Fatal(err)
			}
			f.leftovers(g, p.End().Residue(nil))
			for _, line := range strings.Split(out.String(), "\n") {
				if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
					t.Errorf("-o %q, watch %t: %q", format, watch, line)
				}
			}
			if out.Len() == 0 {
				t.Error("nothing was printed")
			}
		}
	}
}

// TestRunKeepsCountsWhileItWatches: what a watch has done is counted and not kept, and a write that fails again and again is told once.
func TestRunKeepsCountsWhileItWatches(t *testing.T) {
	f, out := newTestRun("", true)
	teller := newRunTeller(f)
	const n = 5000
	for i := range n {
		object := graph.Ref{APIVersion: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespace: "ns", Name: fmt.Sprint("c", i), UID: fmt.Sprint(i)}
		teller.tell(collect.Event{Action: collect.Action{Verb: plan.VerbDelete, Object: object, Because: plan.OwnersGone, Pass: i}})
		for range 2 {
			teller.tell(collect.Event{Action: collect.Action{Verb: plan.VerbOrphan, Object: object}, Err: errors.New("refused")})
		}
	}
	if len(teller.events) > 0 || len(teller.failed) > mostFailures || len(teller.told) > mostTold {
		t.Errorf("it keeps %d events, %d failures and %d objects", len(teller.events), len(teller.failed), len(teller.told))
	}
	if warnings := strings.Count(out.String(), "Warning: "); warnings != n {
		t.Errorf("%d warnings of %d failures of %d objects", warnings, 2*n, n)
	}
	if got, want := teller.summary(), fmt.Sprintf("deleted %d objects, in %d passes", n, n-1); got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
	errs := teller.errors()
	if last := errs[len(errs)-1].Error(); last != fmt.Sprintf("%d writes failed besides", 2*n-mostFailures) {
		t.Errorf("the last error is %q", last)
	}
}
