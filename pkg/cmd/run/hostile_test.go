package run

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// evil is text that an object or a server supplies and that would change what a terminal shows.
const evil = "x\x1b[31m\x1b]0;title\a\r\u009b2J\u202e\u2028y"

func newTestRun(t *testing.T, format string, watch bool) (*Options, *bytes.Buffer) {
	var out bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}
	config, context := genericclioptions.NewConfigFlags(false), evil
	config.Context = &context
	o := &Options{Mutation: env.NewMutation(env.New(streams, config), "wide", "name"), Watch: watch}
	o.Color = "never"
	cmd := &cobra.Command{}
	o.Output.Add(cmd)
	if err := cmd.Flags().Set("output", format); err != nil {
		t.Fatal(err)
	}
	return o, &out
}

// hostileGraph has a dependent of an owner that is gone, one that finalizers hold, and one that
// nobody can judge, all of whose texts are hostile.
func hostileGraph() *graph.Graph {
	b := graph.NewBuilder()
	t := graph.Type{Group: "g" + evil, Version: "v1", Resource: "things" + evil, Kind: "Thing" + evil, Namespaced: true}
	b.Serve(t)
	l := b.Listing(t, "")
	ref := func(apiVersion string) []graph.OwnerReference {
		return []graph.OwnerReference{{APIVersion: apiVersion, Kind: "Thing" + evil, Name: "nobody" + evil,
			UID: "nobody" + apiVersion}}
	}
	l.Add(
		graph.Object{Namespace: "ns" + evil, Name: "a" + evil, UID: "a", Owners: ref(t.APIVersion())},
		graph.Object{Namespace: "ns" + evil, Name: "b" + evil, UID: "b", DeletionTimestamp: 1,
			Finalizers: []string{"example.com/" + evil}},
		graph.Object{Namespace: "ns" + evil, Name: "c" + evil, UID: "c", Owners: ref("unserved/" + evil)},
	)
	l.Complete()
	return b.Build()
}

// TestRunEscapesWhatObjectsAndServersSay: nothing that run prints on a terminal has a control
// character that an object or a server supplied.
func TestRunEscapesWhatObjectsAndServersSay(t *testing.T) {
	g := hostileGraph()
	p := plan.NewRun(g, plan.Options{})
	a, _ := g.Lookup("a")
	for _, format := range []string{"", "wide", "name"} {
		for _, watch := range []bool{false, true} {
			o, out := newTestRun(t, format, watch)
			for _, verb := range []plan.Verb{plan.VerbDelete, plan.VerbOrphan, plan.VerbUnblock, plan.VerbRemoveFinalizer} {
				action := plan.Write{Verb: verb, Object: g.Ref(a), Owners: []string{"nobody"},
					Finalizers: []string{evil}, RemainingFinalizers: []string{evil}, Because: plan.OwnersGone, Cause: g.Ref(a), Policy: plan.Foreground}
				o.event(plan.Event{Action: action})
				o.event(plan.Event{Action: action, Err: errors.New(evil)})
			}
			o.warned(g.Ref(a), nil)
			o.warned(g.Ref(a), errors.New("events is forbidden: "+evil))
			for _, err := range []error{nil, errors.New(evil),
				&collect.OwnerLossError{Losses: []plan.OwnerLoss{{Group: evil, Kind: evil, Absent: 12}}}} {
				fmt.Fprintln(out, render.Paused(err))
			}
			proposal := &collect.Proposal{Snapshot: &collect.Snapshot{Listing: collect.Listing{Graph: g,
				Gaps: []v1alpha1.Gap{{Resource: evil, Message: evil}}}}, Plan: p,
				Growth: plan.Growth{Deleted: []graph.ID{a}, Written: []graph.ID{a}}}
			fmt.Fprintln(out, render.Growth(proposal))
			if err := o.show(proposal); err != nil {
				t.Fatal(err)
			}
			o.leftovers(g, p.End().NotDeleted(nil))
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
