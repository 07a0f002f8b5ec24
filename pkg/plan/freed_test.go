package plan

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// TestSumsAreThoseOfWhatGoes: pods that run and stay away, and volumes by storage class.
func TestSumsAreThoseOfWhatGoes(t *testing.T) {
	s := newSmall(t)
	s.add(pods, "root")
	for _, name := range []string{"runs", "waits", "ended"} {
		s.add(pods, name, to(pods, "root"))
	}
	p := s.plan(Background, "root")
	ids := lookup(t, p.Graph, "runs", "waits", "ended", "root")
	cpu := func(q string) map[string]resource.Quantity {
		return map[string]resource.Quantity{"cpu": resource.MustParse(q)}
	}
	disk := func(class, capacity string) v1alpha1.Disk {
		return v1alpha1.Disk{StorageClass: class, Capacity: capacity}
	}
	p.Learn(Details{
		Pods: map[graph.ID]Pod{
			ids[0]: {Node: "n", Requests: cpu("1500m")}, ids[1]: {Requests: cpu("1")},
			ids[2]: {Node: "n", Ended: true, Requests: cpu("1")}, ids[3]: {Node: "n", Requests: cpu("500m")},
		},
		Facts: Facts{
			Disks:     []v1alpha1.Disk{disk("fast", "1Gi"), disk("fast", "512Mi"), disk("", "none")},
			KeptDisks: []v1alpha1.Disk{disk("fast", "2Gi")},
			DNSNames:  []string{"b", "a", "b"}, UnreadNaming: ids[1:2],
		},
	})
	want := "[{ 1  } {fast 3 1536Mi 2Gi}] 2 map[cpu:2] [a b] 0 1"
	if f := p.Freed; f == nil || fmt.Sprint(f.Storage, f.Pods, f.Requests, f.DNSNames, f.Certificates, len(f.Unread)) != want {
		t.Errorf("got %+v, want %s", f, want)
	}
}

// TestWhatComesBackIsNotFreed: neither a pod whose controller comes back, nor what asks for a DNS name
// or a certificate. What comes back only by hand is freed until then.
func TestWhatComesBackIsNotFreed(t *testing.T) {
	controlled := func(by string) graph.OwnerReference {
		r := to(sets, by)
		r.Controller = true
		return r
	}
	for with, want := range map[string]string{"": "0 map[] [] 0", "the next upgrade": "1 map[cpu:1] [certificate web] 1"} {
		s := newTied(t)
		s.add(xdatabases, "source")
		s.add(sets, "set")
		s.add(pods, "pod", controlled("set"))
		s.add(certificates, "certificate")
		s.add(services, "web")
		for _, end := range []string{"set", "certificate", "web"} {
			s.tie(&link.Definition{Recreates: []link.Recreation{{By: "Maker", With: with}}}, "source", end, nil)
		}
		p := s.plan(Background, "set", "certificate", "web")
		d := Details{Pods: map[graph.ID]Pod{lookup(t, p.Graph, "pod")[0]: {Node: "n",
			Requests: map[string]resource.Quantity{"cpu": resource.MustParse("1")}}}}
		d.DNSNames = strings.Fields(names(p.Graph, p.Naming()))
		p.Learn(d)
		f := cmp.Or(p.Freed, &v1alpha1.Freed{})
		if got := fmt.Sprint(f.Pods, f.Requests, f.DNSNames, f.Certificates); got != want {
			t.Errorf("made again with %q: freed %s, want %s", with, got, want)
		}
	}
}

func TestWhatHoldsNothingFreesNothing(t *testing.T) {
	s := newSmall(t)
	s.add(pods, "root")
	p := s.plan(Background, "root")
	p.Learn(Details{})
	if p.Freed != nil || p.Outside != nil {
		t.Errorf("got %+v and %+v, want nothing", p.Freed, p.Outside)
	}
}

func TestWhatCouldNotBeReadIsNotNothing(t *testing.T) {
	s := newSmall(t)
	s.add(pods, "root")
	s.add(sets, "set", to(pods, "root"))
	p := s.plan(Background, "root")
	p.Learn(Details{Facts: Facts{Unread: lookup(t, p.Graph, "root", "set")}})
	if p.Freed == nil || len(p.Freed.Unread) != 1 || p.Freed.Unread[0].Name != "root" {
		t.Errorf("got %+v, want the pod among what could not be read, and not the StatefulSet", p.Freed)
	}
}
