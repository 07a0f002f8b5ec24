package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

func blockers(p *Plan) string {
	var all []string
	for _, b := range p.Blockers {
		all = append(all, fmt.Sprintf("%s %v %d", p.Graph.Ref(b.Object).Name, b.Finalizers, b.GracePeriodSeconds))
	}
	return strings.Join(all, "; ")
}

// TestGracePeriodOfPods_API018 goes through what decides how long a pod stays
// (pkg/registry/core/pod/strategy.go, CheckGracefulDelete).
func TestGracePeriodOfPods_API018(t *testing.T) {
	seconds := func(s int64) *int64 { return &s }
	for name, test := range map[string]struct {
		pod       Pod
		deleting  bool
		requested *int64
		want      int64
	}{
		"its own":                       {Pod{Node: "n", GracePeriodSeconds: 30}, false, nil, 30},
		"on no node":                    {Pod{GracePeriodSeconds: 30}, false, nil, 0},
		"ended":                         {Pod{Node: "n", Ended: true, GracePeriodSeconds: 30}, false, nil, 0},
		"none":                          {Pod{Node: "n"}, false, nil, 0},
		"forced":                        {Pod{Node: "n", GracePeriodSeconds: 30}, false, seconds(0), 0},
		"now":                           {Pod{Node: "n", GracePeriodSeconds: 30}, false, seconds(1), 1},
		"longer":                        {Pod{Node: "n", GracePeriodSeconds: 30}, false, seconds(60), 60},
		"negative":                      {Pod{Node: "n", GracePeriodSeconds: -5}, false, nil, 1},
		"longer, but terminating":       {Pod{Node: "n", GracePeriodSeconds: 30}, true, seconds(60), 30},
		"shorter, and terminating":      {Pod{Node: "n", GracePeriodSeconds: 30}, true, seconds(5), 5},
		"terminating, its phase is old": {Pod{Node: "n", Ended: true, GracePeriodSeconds: 30}, true, nil, 30},
	} {
		if got := test.pod.grace(test.deleting, test.requested); got != test.want {
			t.Errorf("%s: %d s, want %d", name, got, test.want)
		}
	}
}

// TestGracefulPodsAreBlockers: the requested period is for the roots (GC-056), and finalizers stay.
func TestGracefulPodsAreBlockers(t *testing.T) {
	s := newSmall(t)
	s.add(pods, "root")
	s.add(pods, "dependent", to(pods, "root"))
	s.add(pods, "finalized", to(pods, "root")).Finalizers = []string{"example.com/hold"}
	s.add(pods, "unscheduled", to(pods, "root"))
	p := s.plan(Background, "root")
	now := int64(1)
	running := Pod{Node: "n", GracePeriodSeconds: 30}
	facts := Details{Pods: map[graph.ID]Pod{}, GracePeriodSeconds: &now}
	for _, id := range lookup(t, p.Graph, "root", "dependent", "finalized") {
		facts.Pods[id] = running
	}
	facts.Pods[lookup(t, p.Graph, "unscheduled")[0]] = Pod{GracePeriodSeconds: 30}
	p.Learn(facts)
	if got, want := blockers(p), "dependent [] 30; finalized [example.com/hold] 30; root [] 1"; got != want {
		t.Errorf("blockers %q, want %q", got, want)
	}
	if b, ok := p.Blocker(lookup(t, p.Graph, "root")[0]); !ok || b.GracePeriodSeconds != 1 {
		t.Errorf("Blocker(root) = %+v, %t", b, ok)
	}
	if _, ok := p.Blocker(lookup(t, p.Graph, "unscheduled")[0]); ok {
		t.Error("a pod on no node holds nothing up")
	}
}

// TestWhatIsForcedHasNoGracePeriod: the pods of a Node go without one, but for one that is deleted
// by its owner, too. Those of a DaemonSet, which makes none for a Node that is gone, do not come back.
func TestWhatIsForcedHasNoGracePeriod(t *testing.T) {
	s := newTied(t)
	forced := &link.Definition{Name: "pods", Deletion: link.Deletion{Of: link.End, By: "kube-controller-manager",
		Policy: link.Background, Waits: link.WaitsNever, Force: true}}
	controlled := to(daemonSets, "set")
	controlled.Controller = true
	s.add(nodeType, "node")
	s.add(daemonSets, "set")
	s.add(configMaps, "owner")
	s.add(pods, "alone")
	s.add(pods, "daemon", controlled)
	s.add(pods, "owned", to(configMaps, "owner"))
	for _, pod := range []string{"alone", "daemon", "owned"} {
		s.tie(forced, "node", pod, nil)
	}
	p := s.plan(Background, "owner", "node")
	facts := Details{Pods: map[graph.ID]Pod{}}
	for _, id := range lookup(t, p.Graph, "alone", "daemon", "owned") {
		facts.Pods[id] = Pod{Node: "node", GracePeriodSeconds: 30}
	}
	p.Learn(facts)
	if got, want := blockers(p), "owned [] 30"; got != want {
		t.Errorf("blockers %q, want %q", got, want)
	}
	if len(p.Recreated) > 0 {
		t.Errorf("comes back: %+v", p.Recreated)
	}
}

// TestClaimsStay: the PVCs of a StatefulSet that no reference ties to it, by their names and its
// policy.
func TestClaimsStay(t *testing.T) {
	s := newSmall(t)
	s.add(sets, "db")
	s.add(sets, "db-0")
	s.add(claims, "data-db-0")
	s.add(claims, "wal-log-db-1")
	s.add(claims, "data-db-0-0") // of db-0
	s.add(claims, "data-db-x")
	s.add(claims, "data-web-0")
	s.add(claims, "data-db-7", to(sets, "db"))                      // goes along
	s.add(claims, "data-db-8", to(sets, "db"), to(configMaps, "c")) // c keeps it
	s.add(claims, "data-db-9").DeletionTimestamp = 1                // goes anyway
	s.add(claims, "data-db-2").Namespace = "elsewhere"
	s.add(configMaps, "c")
	for _, test := range []struct {
		set  StatefulSet
		code ReasonCode
	}{
		{StatefulSet{Templates: []string{"data", "wal-log"}}, PVCRetained},
		{StatefulSet{Templates: []string{"data", "wal-log"}, DeletesPVCs: true}, PVCNotOwned},
	} {
		p := s.plan(Background, "db")
		p.Learn(Details{StatefulSets: map[graph.ID]StatefulSet{lookup(t, p.Graph, "db")[0]: test.set}})
		if got, want := names(p.Graph, Objects(p.Kept)), "data-db-0 data-db-8 wal-log-db-1"; got != want {
			t.Errorf("%s: survivors %q, want %q", test.code, got, want)
		}
		wantReason(t, p, "data-db-0", test.code, "db")
		wantReason(t, p, "wal-log-db-1", test.code, "db")
		wantReason(t, p, "data-db-8", OwnedByAnother, "c")
		if links := p.PVCLinks()(lookup(t, p.Graph, "db")[0]); len(links) != 2 {
			t.Errorf("%s: links %+v, want those to the two that stay", test.code, links)
		}
		if links := p.PVCLinks()(lookup(t, p.Graph, "db-0")[0]); len(links) != 0 {
			t.Errorf("%s: links %+v of another set", test.code, links)
		}
	}
	p := s.plan(Background, "db", "db-0")
	p.Learn(Details{StatefulSets: map[graph.ID]StatefulSet{
		lookup(t, p.Graph, "db")[0]:   {Templates: []string{"data"}},
		lookup(t, p.Graph, "db-0")[0]: {Templates: []string{"data"}},
	}})
	wantReason(t, p, "data-db-0", PVCRetained, "db")
	wantReason(t, p, "data-db-0-0", PVCRetained, "db-0")
}
