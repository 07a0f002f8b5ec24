package plan

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// TestWhatComesBackByItsController: a pod does whose controller stays, also one that is
// cluster-scoped. It does not where the controller goes or did not exist, where the owner is no
// controller, and where the namespace of the pod goes.
func TestWhatComesBackByItsController(t *testing.T) {
	deployments := graph.Type{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true}
	nodes := graph.Type{Version: "v1", Resource: "nodes", Kind: "Node"}
	controlled := func(t graph.Type, name string) graph.OwnerReference {
		r := to(t, name)
		r.Controller = true
		return r
	}
	for name, c := range map[string]struct {
		owner graph.OwnerReference
		roots []string
		want  string
	}{
		"a controller that stays":         {controlled(deployments, "deployment"), []string{"pod"}, "deployment"},
		"a cluster-scoped controller":     {controlled(nodes, "node"), []string{"pod"}, "node"},
		"the controller goes too":         {controlled(deployments, "deployment"), []string{"pod", "deployment"}, ""},
		"an owner that is no controller":  {to(deployments, "deployment"), []string{"pod"}, ""},
		"a controller that never existed": {controlled(deployments, "absent"), []string{"pod"}, ""},
		"another kind than the owner's":   {as(controlled(deployments, "deployment"), nodes, "x"), []string{"pod"}, ""},
		"the namespace goes":              {controlled(nodes, "node"), []string{"ns"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSmall(t)
			s.add(nsType, "ns")
			s.add(nodes, "node")
			s.add(deployments, "deployment")
			s.add(pods, "pod", c.owner)
			b := graph.NewBuilder()
			for _, of := range []graph.Type{nsType, nodes, deployments, pods} {
				b.Serve(of)
				l := b.Listing(of, "")
				l.Add(s.objects[of]...)
				l.Complete()
			}
			g := b.Build()
			var owners []graph.ID
			for _, r := range New(g, lookup(t, g, c.roots...), Background, Options{}).Recreated {
				owners = append(owners, r.Owner)
			}
			if got := names(g, owners); got != c.want {
				t.Errorf("what comes back is controlled by %q, want %q", got, c.want)
			}
		})
	}
}

// TestWhichPodsComeBack: it is certain of a pod that was read, of a controller that replaces pods.
// One that has ended is not said to come back where its controller has replaced it already, as pods
// that were evicted, or does not replace it, as that of a Job.
func TestWhichPodsComeBack(t *testing.T) {
	apps := func(resource, kind string) graph.Type {
		return graph.Type{Group: "apps", Version: "v1", Resource: resource, Kind: kind, Namespaced: true}
	}
	jobs := graph.Type{Group: "batch", Version: "v1", Resource: "jobs", Kind: "Job", Namespaced: true}
	const certain, possible, not = "kube-controller-manager", "", "-"
	for _, c := range []struct {
		owner                  graph.Type
		running, ended, unread string
	}{
		{apps("replicasets", "ReplicaSet"), certain, not, possible},
		{apps("statefulsets", "StatefulSet"), certain, certain, possible},
		{apps("daemonsets", "DaemonSet"), certain, certain, possible},
		{jobs, possible, not, possible},
		{graph.Type{Group: "core.strimzi.io", Version: "v1beta2", Resource: "strimzipodsets", Kind: "StrimziPodSet",
			Namespaced: true}, possible, possible, possible},
	} {
		t.Run(c.owner.Kind, func(t *testing.T) {
			s := newSmall(t)
			s.add(c.owner, "owner")
			controlled := to(c.owner, "owner")
			controlled.Controller = true
			for _, name := range []string{"running", "ended", "unread"} {
				s.add(pods, name, controlled)
			}
			b := graph.NewBuilder()
			for _, of := range []graph.Type{c.owner, pods} {
				b.Serve(of)
				l := b.Listing(of, "")
				l.Add(s.objects[of]...)
				l.Complete()
			}
			g := b.Build()
			ids := lookup(t, g, "running", "ended", "unread")
			p := New(g, ids, Background, Options{})
			p.Learn(Details{Pods: map[graph.ID]Pod{ids[0]: {Node: "n"}, ids[1]: {Ended: true}}})
			got := map[graph.ID]string{ids[0]: not, ids[1]: not, ids[2]: not}
			for _, r := range p.Recreated {
				got[r.Object] = r.Program
			}
			if got[ids[0]] != c.running || got[ids[1]] != c.ended || got[ids[2]] != c.unread {
				t.Errorf("running %q, ended %q, unread %q", got[ids[0]], got[ids[1]], got[ids[2]])
			}
		})
	}
}

// TestWhatComesBackWithItsNamespace: a program that acts of its own accord makes an object again
// only if it makes the namespace, or that comes back of its own accord too, and not by hand.
func TestWhatComesBackWithItsNamespace(t *testing.T) {
	for name, c := range map[string]struct {
		makes     string
		namespace *link.Recreation
		want      string
	}{
		"it makes the namespace":          {"ns", nil, "settings"},
		"it makes another namespace":      {"other", nil, ""},
		"the namespace comes back itself": {"", &link.Recreation{By: "Maker"}, "ns settings"},
		"the namespace comes by hand":     {"", &link.Recreation{By: "Helm", With: "the next upgrade"}, "ns"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTied(t)
			s.add(nsType, "ns")
			s.add(xdatabases, "source")
			s.add(configMaps, "settings")
			s.tie(&link.Definition{Recreates: []link.Recreation{{By: "Maker", Namespace: path("spec.to")}}}, "source", "settings",
				map[string]any{"to": c.makes})
			if c.namespace != nil {
				s.tie(&link.Definition{Recreates: []link.Recreation{*c.namespace}}, "source", "ns", nil)
			}
			p := s.plan(Background, "ns")
			var again []graph.ID
			for _, r := range p.Recreated {
				again = append(again, r.Object)
			}
			if got := names(p.Graph, again); got != c.want {
				t.Errorf("%q come back, want %q", got, c.want)
			}
		})
	}
}

// TestWhatIsMadeInEachNamespaceComesBack, while the namespace stays, and by its type and name.
func TestWhatIsMadeInEachNamespaceComesBack(t *testing.T) {
	s := newTied(t)
	s.add(nsType, "ns")
	s.add(configMaps, "kube-root-ca.crt")
	s.add(secrets, "default")
	for root, want := range map[string]int{"kube-root-ca.crt": 1, "default": 0, "ns": 0} {
		p := s.plan(Background, root)
		if len(p.Recreated) != want || want > 0 && p.Recreated[0].Owner != p.Recreated[0].Object {
			t.Errorf("%s is deleted, and comes back: %+v", root, p.Recreated)
		}
	}
}

// TestWhatComesBackWithWhatItsProgramNeeds: a program makes nothing again once something goes that it
// needs for that, unless a program or a controller makes that again. What it needs for itself does
// not come back.
func TestWhatComesBackWithWhatItsProgramNeeds(t *testing.T) {
	made := func(with string, needs ...link.Ends) *link.Definition {
		return &link.Definition{Recreates: []link.Recreation{{By: "Maker", With: with, Needs: needs}}}
	}
	store := link.Ends{Form: link.Text, Field: path("spec.store"), Kind: "v1/ConfigMap", Namespace: "ns"}
	for name, c := range map[string]struct {
		roots, want string
		more        func(*tied)
	}{
		"it stays":           {"settings", "settings", func(*tied) {}},
		"it goes":            {"settings store", "", func(*tied) {}},
		"a program makes it": {"settings store", "settings store", func(s *tied) { s.tie(made(""), "source", "store", nil) }},
		"somebody makes it":  {"settings store", "store", func(s *tied) { s.tie(made("an upgrade"), "source", "store", nil) }},
		"its controller makes it": {"settings controlled", "controlled settings", func(s *tied) {
			r := to(xdatabases, "source")
			r.Controller = true
			s.add(configMaps, "controlled", r)
			s.ties[0].recreation.Needed[0].Name = "controlled"
		}},
		"it goes, and the source is the controller": {"controlled store", "", func(s *tied) {
			r := to(xdatabases, "source")
			r.Controller = true
			s.add(configMaps, "controlled", r)
			s.ties[0].end = "controlled"
		}},
		"both need each other": {"settings store", "", func(s *tied) {
			s.tie(made("", store), "source", "store", map[string]any{"store": "settings"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTied(t)
			s.add(xdatabases, "source")
			s.add(configMaps, "settings")
			s.add(configMaps, "store")
			s.tie(made("", store), "source", "settings", map[string]any{"store": "store"})
			c.more(s)
			p := s.plan(Background, strings.Fields(c.roots)...)
			var again []graph.ID
			for _, r := range p.Recreated {
				again = append(again, r.Object)
			}
			if got := names(p.Graph, again); got != c.want {
				t.Errorf("%q come back, want %q", got, c.want)
			}
		})
	}
}

// TestAddonsComeBack: a root that the addon manager looks after does; not one with another mode or
// label, one that was not read, or what goes with a root.
func TestAddonsComeBack(t *testing.T) {
	deployments := graph.Type{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true}
	for name, c := range map[string]struct {
		labels map[string]string
		root   string
		want   string
	}{
		"reconciled":         {map[string]string{addonMode: "Reconcile"}, "dashboard", "dashboard"},
		"ensured to exist":   {map[string]string{addonMode: "EnsureExists"}, "dashboard", "dashboard"},
		"another mode":       {map[string]string{addonMode: "Ignore"}, "dashboard", ""},
		"another label":      {map[string]string{"kubernetes.io/cluster-service": "true"}, "dashboard", ""},
		"labels of no root":  {map[string]string{addonMode: "Reconcile"}, "ns", ""},
		"nothing of it read": {nil, "dashboard", ""},
	} {
		s := newSmall(t)
		s.add(nsType, "ns")
		s.add(deployments, "dashboard")
		b := graph.NewBuilder()
		for _, of := range []graph.Type{nsType, deployments} {
			b.Serve(of)
			l := b.Listing(of, "")
			l.Add(s.objects[of]...)
			l.Complete()
		}
		g := b.Build()
		p := New(g, lookup(t, g, c.root), Background, Options{})
		p.Learn(Details{Labels: map[graph.ID]map[string]string{lookup(t, g, "dashboard")[0]: c.labels}})
		var back []graph.ID
		for _, r := range p.Recreated {
			back = append(back, r.Object)
		}
		if got := names(g, back); got != c.want {
			t.Errorf("%s: %q comes back, want %q", name, got, c.want)
		}
	}
}
