package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

var (
	databases = graph.Type{Group: "example.org", Version: "v1", Resource: "databases", Kind: "Database",
		Namespaced: true}
	xdatabases   = graph.Type{Group: "example.org", Version: "v1", Resource: "xdatabases", Kind: "XDatabase"}
	buckets      = graph.Type{Group: "example.org", Version: "v1", Resource: "buckets", Kind: "Bucket"}
	applications = graph.Type{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications", Kind: "Application",
		Namespaced: true}
	kustomizations = graph.Type{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations",
		Kind: "Kustomization", Namespaced: true}
	usages   = graph.Type{Group: "apiextensions.crossplane.io", Version: "v1beta1", Resource: "usages", Kind: "Usage"}
	accounts = graph.Type{Version: "v1", Resource: "serviceaccounts", Kind: "ServiceAccount", Namespaced: true}
	nsType   = graph.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}
	nodeType = graph.Type{Version: "v1", Resource: "nodes", Kind: "Node"}
	// daemonSets make the pods of a Node.
	daemonSets = graph.Type{Group: "apps", Version: "v1", Resource: "daemonsets", Kind: "DaemonSet", Namespaced: true}
)

const (
	claimFinalizer = "finalizer.apiextensions.crossplane.io"
	xrFinalizer    = "composite.apiextensions.crossplane.io"
	argoFinalizer  = "resources-finalizer.argocd.argoproj.io"
	fluxFinalizer  = "finalizers.fluxcd.io"
)

// definitions of links, as packs have them.
var (
	compositeOf = &link.Definition{Name: "composite", Recreates: []link.Recreation{{}}, Deletion: link.Deletion{
		Of: link.End, By: "Crossplane", Finalizer: claimFinalizer, Policy: link.Background,
		PolicyField: path("spec.compositeDeletePolicy"), Foreground: "Foreground", Waits: link.WaitsForeground,
	}}
	resourceOf = &link.Definition{Name: "resource", Recreates: []link.Recreation{{}}, Deletion: link.Deletion{
		Of: link.End, By: "Argo CD", Finalizer: argoFinalizer + "*", Policy: link.Foreground, Waits: link.WaitsAlways,
	}}
	inventoryOf = &link.Definition{Name: "inventory",
		Recreates: []link.Recreation{{Where: []link.Condition{{Field: path("spec.suspend"), Value: "true", Not: true}}}},
		Deletion: link.Deletion{
			Of: link.End, By: "Flux", Finalizer: fluxFinalizer, Policy: link.Background, Waits: link.WaitsNever,
			Never: [][]link.Condition{{{Field: path("spec.suspend"), Value: "true"}}},
		}}
	guardOf = &link.Definition{Name: "usage", Deletion: link.Deletion{Of: link.Guard, By: "Crossplane"}}
)

func path(text string) link.Path {
	p, err := link.ParsePath(text)
	if err != nil {
		panic(err) // the links of the tests are variables of the package, which no test can fail
	}
	return p
}

// tied is a small cluster with links between its objects.
type tied struct {
	*small
	ties []tie
}

type tie struct {
	definition  *link.Definition
	source, end string
	effect      link.Effect
	kept        string
	recreation  *link.Recreation
	foreground  bool
	unconfirmed bool
	halts       bool
	// account is as which the program acts, refused why that cannot delete the end, and unsure why
	// nobody knows.
	account, refused, unsure string
}

func newTied(t *testing.T) *tied { return &tied{small: newSmall(t)} }

// tie adds a link by which a source with a spec names an end. The finalizers are those of the
// source.
func (s *tied) tie(d *link.Definition, source, end string, spec map[string]any, finalizers ...string) *tie {
	s.ties = append(s.ties, tie{definition: d, source: source, end: end,
		effect:     d.EffectOf(map[string]any{"spec": spec}, finalizers),
		recreation: d.RecreatedBy(map[string]any{"spec": spec})})
	return &s.ties[len(s.ties)-1]
}

func (s *tied) build() (*graph.Graph, *link.Links) {
	s.t.Helper()
	b := graph.NewBuilder()
	for _, typ := range []graph.Type{configMaps, secrets, pods, claims, sets, roles, databases, xdatabases, buckets,
		applications, kustomizations, usages, accounts, nsType, nodeType, daemonSets, services, certificates} {
		b.Serve(typ)
		l := b.Listing(typ, "")
		l.Add(s.objects[typ]...)
		l.Complete()
	}
	g := b.Build()
	var found []link.Found
	for _, tie := range s.ties {
		ids := lookup(s.t, g, tie.source, tie.end)
		found = append(found, link.Found{Definition: tie.definition, Source: ids[0], End: ids[1], Field: "spec.resourceRef",
			Effect: tie.effect, Kept: tie.kept, Recreation: tie.recreation, Foreground: tie.foreground,
			Confirmed: !tie.unconfirmed, Halts: tie.halts, Account: tie.account, Refused: tie.refused, Unsure: tie.unsure})
	}
	return g, link.New(g, found...)
}

func (s *tied) plan(policy Policy, roots ...string) *Plan {
	s.t.Helper()
	g, links := s.build()
	return New(g, lookup(s.t, g, roots...), policy, Options{Links: links})
}

// claim adds a claim with its composite, which has composed a bucket.
func (s *tied) claim(policy string, finalizers ...string) {
	s.add(databases, "claim").Finalizers = finalizers
	s.add(xdatabases, "composite").Finalizers = []string{xrFinalizer}
	s.add(buckets, "composed", block(xdatabases, "composite"))
	s.tie(compositeOf, "claim", "composite", map[string]any{"compositeDeletePolicy": policy}, finalizers...)
}

func wantDeleted(t *testing.T, p *Plan, want string) {
	t.Helper()
	if got := names(p.Graph, p.Deleted); got != want {
		t.Errorf("deleted %q, want %q", got, want)
	}
	if p.DependsOnTiming {
		t.Errorf("the end depends on timing, of %q", names(p.Graph, p.Unsettled))
	}
}

// deletedBy says who deletes an object.
func deletedBy(p *Plan, uid string) By {
	id, _ := p.Graph.Lookup(uid)
	for _, a := range p.Actions {
		if a.Object == id && a.Verb == VerbDelete {
			return a.By
		}
	}
	return ""
}

// TestClaimTakesItsComposite in the background: the claim does not wait for it, and what it
// composed goes after it.
func TestClaimTakesItsComposite(t *testing.T) {
	s := newTied(t)
	s.claim("Background", claimFinalizer)
	p := s.plan(Background, "claim")
	wantSaid(t, p, "1 delete claim Background", "2 delete composite Background", "4 delete composed Background")
	wantDeleted(t, p, "claim composed composite")
	wantReason(t, p, "composite", LinkDeleted, "claim")
	wantReason(t, p, "composed", OwnersGone, "composite")
	if by := deletedBy(p, "composite"); by != ByController {
		t.Errorf("the composite is deleted by %s", by)
	}
	if f, ok := p.Link(p.Actions[1].Object, p.Actions[1].Because); !ok || f.Definition != compositeOf {
		t.Errorf("the reason does not say which link")
	}
	if got := names(p.Graph, Objects(p.Blocked)); got != "claim composed composite" {
		t.Errorf("without Crossplane there are left %q, want all", got)
	}
	for _, r := range p.Blocked {
		if r.Object == lookup(t, p.Graph, "composite")[0] && r.Because.Code != LinkPending {
			t.Errorf("the composite is left because of %s", r.Because.Code)
		}
	}
	if len(p.Recreated)+len(p.Guarded)+len(p.Kept) != 0 || len(p.Blockers) != 2 || len(p.Until(p.Roots[0])) != 0 {
		t.Errorf("the plan says more: %+v %+v %+v %+v", p.Recreated, p.Guarded, p.Kept, p.Blockers)
	}
}

// TestClaimWaitsForItsComposite in the foreground: the composed objects go first, then the
// composite, and the claim is last, whatever the policy of its deletion.
func TestClaimWaitsForItsComposite(t *testing.T) {
	for _, policy := range []Policy{Background, Foreground, Orphan} {
		s := newTied(t)
		s.claim("Foreground", claimFinalizer)
		p := s.plan(policy, "claim")
		wantDeleted(t, p, "claim composed composite")
		said := slices.DeleteFunc(said(p), func(line string) bool { return strings.Contains(line, "claim") })
		if got := strings.Join(
			said, ", "); got != "2 delete composite Foreground, 3 delete composed Background, 4 removeFinalizer composite" {
			t.Errorf("%s: %s", policy, got)
		}
		claim, composite := lookup(t, p.Graph, "claim")[0], lookup(t, p.Graph, "composite")[0]
		if until := p.Until(claim); !slices.Equal(until, []graph.ID{composite}) {
			t.Errorf("%s: the claim waits until %v are gone", policy, until)
		}
	}
}

// TestPolicyOfAClaimIsSetFirst: before anything is deleted, and only of what is named itself.
func TestPolicyOfAClaimIsSetFirst(t *testing.T) {
	s := newTied(t)
	s.claim("Foreground", claimFinalizer)
	s.ties[0].foreground = true
	p := s.plan(Foreground, "claim")
	wantDeleted(t, p, "claim composed composite")
	a := p.Actions[0]
	if a.Verb != VerbSetPolicy || a.By != ByClient || a.Wave != 0 || p.Graph.Name(a.Object) != "claim" ||
		a.Setting.Field.String() != "spec.compositeDeletePolicy" || a.Setting.Value != "Foreground" {
		t.Errorf("the first action is %+v", a)
	}
	if f, ok := p.Link(a.Object, a.Because); !ok || p.Graph.Name(f.End) != "composite" {
		t.Errorf("because of %+v", a.Because)
	}
	var c Consent
	c.Agree(p)
	if g := c.Beyond(p); !g.None() {
		t.Errorf("the plan is beyond itself: %+v", g)
	}
	if p := s.plan(Foreground, "composite"); p.Actions[0].Verb == VerbSetPolicy {
		t.Errorf("the deletion of the composite sets %+v", p.Actions[0])
	}
}

// TestClaimWaitsForWhatIsNeverGone: the plan says for what.
func TestClaimWaitsForWhatIsNeverGone(t *testing.T) {
	s := newTied(t)
	s.claim("Foreground", claimFinalizer)
	s.add(buckets, "stays", block(xdatabases, "composite"), unserved)
	p := s.plan(Background, "claim")
	wantReason(t, p, "claim", LinkWaits, "composite")
	wantReason(t, p, "composite", DependentsBlock, "stays")
	wantDeleted(t, p, "composed")
}

// TestClaimWithoutItsFinalizer leaves its composite: nobody sees that it is deleted.
func TestClaimWithoutItsFinalizer(t *testing.T) {
	s := newTied(t)
	s.claim("Background")
	p := s.plan(Background, "claim")
	wantDeleted(t, p, "claim")
	wantReason(t, p, "composite", LinkNotSeen, "claim")
}

// TestCompositeOfALivingClaim comes back, and is not said to if its claim goes too.
func TestCompositeOfALivingClaim(t *testing.T) {
	s := newTied(t)
	s.claim("Background", claimFinalizer)
	p := s.plan(Background, "composite")
	wantDeleted(t, p, "composed composite")
	if len(p.Recreated) != 1 {
		t.Fatalf("recreated %+v, want the composite", p.Recreated)
	}
	r := p.Recreated[0]
	if names(p.Graph, []graph.ID{r.Object, r.Owner}) != "claim composite" || r.Program != "Crossplane" ||
		r.Field != "spec.resourceRef" || !r.Only {
		t.Errorf("recreated %+v", r)
	}
	if p := s.plan(Background, "composite", "claim"); len(p.Recreated) != 0 {
		t.Errorf("recreated %+v although the claim goes", p.Recreated)
	}
}

// TestTwoClaimsOfOneComposite: it goes with the first, and comes back for the other; or it is
// waited for by both.
func TestTwoClaimsOfOneComposite(t *testing.T) {
	s := newTied(t)
	s.claim("Foreground", claimFinalizer)
	s.add(databases, "other").Finalizers = []string{claimFinalizer}
	s.tie(compositeOf, "other", "composite", map[string]any{"compositeDeletePolicy": "Foreground"}, claimFinalizer)
	p := s.plan(Background, "claim")
	wantDeleted(t, p, "claim composed composite")
	if len(p.Recreated) != 1 || p.Graph.Name(p.Recreated[0].Owner) != "other" {
		t.Errorf("recreated %+v, want the composite of the other claim", p.Recreated)
	}
	p = s.plan(Background, "claim", "other")
	wantDeleted(t, p, "claim composed composite other")
	if n := strings.Count(strings.Join(said(p), "\n"), "delete composite"); n != 1 || len(p.Recreated) != 0 {
		t.Errorf("the composite is deleted %d times, recreated %+v", n, p.Recreated)
	}
}

// TestApplicationKeepsAResource: Argo CD deletes the others in the foreground and waits for them;
// what they own goes with them.
func TestApplicationKeepsAResource(t *testing.T) {
	s := newTied(t)
	s.add(applications, "app").Finalizers = []string{argoFinalizer}
	s.add(sets, "set")
	s.add(pods, "pod", block(sets, "set"))
	s.add(configMaps, "settings")
	s.add(claims, "data")
	for _, end := range []string{"set", "settings", "data"} {
		s.tie(resourceOf, "app", end, nil, argoFinalizer)
	}
	s.ties[2].kept = "annotation helm.sh/resource-policy is keep"
	p := s.plan(Background, "app")
	wantDeleted(t, p, "app pod set settings")
	wantReason(t, p, "data", LinkKept, "app")
	wantReason(t, p, "set", LinkDeleted, "app")
	wantSaid(t, p, "1 delete app Background", "2 delete settings Foreground", "2 delete set Foreground",
		"3 removeFinalizer settings", "3 delete pod Background", "4 removeFinalizer set")
	if until := p.Until(p.Roots[0]); names(p.Graph, until) != "set settings" {
		t.Errorf("the application waits until %s are gone", names(p.Graph, until))
	}
	if p := s.plan(Background, "set", "data"); len(p.Recreated) != 2 || p.Recreated[0].Only {
		t.Errorf("recreated %+v, want both, and others of the application are named too", p.Recreated)
	}
}

// TestSuspendedKustomization takes nothing along, and creates nothing again.
func TestSuspendedKustomization(t *testing.T) {
	for _, suspended := range []bool{true, false} {
		s := newTied(t)
		s.add(kustomizations, "app").Finalizers = []string{fluxFinalizer}
		s.add(configMaps, "settings")
		s.tie(inventoryOf, "app", "settings", map[string]any{"suspend": suspended}, fluxFinalizer)
		p := s.plan(Background, "app")
		if suspended {
			wantDeleted(t, p, "app")
			wantReason(t, p, "settings", LinkKept, "app")
		} else {
			wantDeleted(t, p, "app settings")
		}
		if p := s.plan(Background, "settings"); len(p.Recreated) == 1 == suspended {
			t.Errorf("suspended %t: recreated %+v", suspended, p.Recreated)
		}
		controller := to(kustomizations, "app")
		controller.Controller = true
		s.objects[configMaps][0].Owners = []graph.OwnerReference{controller}
		if p := s.plan(Background, "settings"); len(p.Recreated) == 1 == suspended {
			t.Errorf("suspended %t, as a controller: recreated %+v", suspended, p.Recreated)
		}
	}
}

// TestOrphanPolicyKeepsTheEnd, which is kept unless something else deletes it.
func TestOrphanPolicyKeepsTheEnd(t *testing.T) {
	s := newTied(t)
	s.claim("Orphan", claimFinalizer)
	p := s.plan(Background, "claim")
	wantDeleted(t, p, "claim")
	wantReason(t, p, "composite", LinkKept, "claim")
	p = s.plan(Background, "claim", "composite")
	wantDeleted(t, p, "claim composed composite")
}

// TestAbsentEnd is neither deleted nor waited for.
func TestAbsentEnd(t *testing.T) {
	s := newTied(t)
	s.add(databases, "claim").Finalizers = []string{claimFinalizer}
	s.add(configMaps, "names-it", to(xdatabases, "absent")) // so that the graph has it
	s.tie(compositeOf, "claim", "absent", map[string]any{"compositeDeletePolicy": "Foreground"}, claimFinalizer)
	p := s.plan(Background, "claim")
	wantDeleted(t, p, "claim")
	wantSaid(t, p, "1 delete claim Background")
	if len(p.Kept)+len(p.Until(p.Roots[0])) != 0 {
		t.Errorf("kept %+v, blockers %+v", p.Kept, p.Blockers)
	}
}

// TestCompositeOfAClaimWithoutAPolicyIsDeletedFirst in the foreground by the client, whether it is
// named too or not: Crossplane would delete it in the background.
func TestCompositeOfAClaimWithoutAPolicyIsDeletedFirst(t *testing.T) {
	s := newTied(t)
	s.claim("", claimFinalizer)
	for _, roots := range [][]string{{"claim"}, {"claim", "composite"}} {
		p := s.plan(Foreground, roots...)
		wantDeleted(t, p, "claim composed composite")
		first := p.First()
		if len(first) != 1 || p.Graph.Name(first[0].Object) != "composite" || first[0].Policy != Foreground ||
			first[0].By != ByClient || first[0].Because.Code != LinkFirst {
			t.Errorf("%v: first are %+v", roots, first)
		}
		if f, ok := p.Link(first[0].Object, first[0].Because); !ok || f.Definition != compositeOf {
			t.Errorf("%v: the reason does not say which link", roots)
		}
		if b := p.Batches(); len(b) != 1 || len(b[0]) != 1 || p.Graph.Name(b[0][0].Object) != "claim" {
			t.Errorf("%v: then %+v", roots, b)
		}
		if n := strings.Count(strings.Join(said(p), "\n"), "delete composite"); n != 1 {
			t.Errorf("%v: the composite is deleted %d times", roots, n)
		}
	}
	for _, policy := range []Policy{Background, Orphan} {
		if p := s.plan(policy, "claim"); len(p.First()) != 0 {
			t.Errorf("%s: first are %+v", policy, p.First())
		}
	}
}

// TestLinksHaveTurns: what is of the second turn is deleted when what is waited for of the first is
// gone.
func TestLinksHaveTurns(t *testing.T) {
	turn := func(n int) *link.Definition {
		d := *resourceOf
		d.Deletion.Turn = n
		return &d
	}
	s := newTied(t)
	s.add(applications, "app").Finalizers = []string{argoFinalizer}
	for _, name := range []string{"third", "first", "second", "alsosecond"} {
		s.add(configMaps, name)
	}
	for name, n := range map[string]int{"third": 7, "first": 0, "second": 1, "alsosecond": 1} {
		s.tie(turn(n), "app", name, nil, argoFinalizer)
	}
	s.add(pods, "below", block(configMaps, "first"))
	p := s.plan(Background, "app")
	wantDeleted(t, p, "alsosecond app below first second third")
	wave := map[string]int{}
	for _, a := range p.Actions {
		if a.Verb == VerbDelete {
			wave[p.Graph.Name(a.Object)] = a.Wave
		}
	}
	if wave["second"] != wave["alsosecond"] || wave["first"] >= wave["below"] || wave["below"] >= wave["second"] ||
		wave["second"] >= wave["third"] {
		t.Errorf("the waves are %v", wave)
	}
}

// TestNoPolicyIsSetForWhatIsAbsent: there is nothing that would be deleted in the foreground.
func TestNoPolicyIsSetForWhatIsAbsent(t *testing.T) {
	s := newTied(t)
	s.add(databases, "claim").Finalizers = []string{claimFinalizer}
	s.add(configMaps, "names-it", to(xdatabases, "absent")) // so that the graph has it
	s.tie(compositeOf, "claim", "absent", map[string]any{"compositeDeletePolicy": "Foreground"},
		claimFinalizer).foreground = true
	if p := s.plan(Foreground, "claim"); p.Actions[0].Verb == VerbSetPolicy {
		t.Errorf("the deletion of the claim sets %+v", p.Actions[0])
	}
}

// TestLinksInACycle: programs that wait for each other never end, and others do.
func TestLinksInACycle(t *testing.T) {
	ring := func(policy string) *Plan {
		s := newTied(t)
		for i := range 3 {
			s.add(databases, fmt.Sprintf("c%d", i)).Finalizers = []string{claimFinalizer}
			s.tie(compositeOf, fmt.Sprintf("c%d", i), fmt.Sprintf("c%d", (i+1)%3),
				map[string]any{"compositeDeletePolicy": policy}, claimFinalizer)
		}
		s.tie(compositeOf, "c0", "c0", map[string]any{"compositeDeletePolicy": policy}, claimFinalizer)
		return s.plan(Background, "c0")
	}
	wantDeleted(t, ring("Background"), "c0 c1 c2")
	p := ring("Foreground")
	wantDeleted(t, p, "")
	if got := names(p.Graph, Objects(p.Deadlocked)); got != "c0 c1 c2" {
		t.Errorf("deadlocked %q, want all", got)
	}
	wantReason(t, p, "c2", LinkWaits, "c0")
}

// TestEndWithAnotherOwner is deleted all the same: a program does not ask who owns it.
func TestEndWithAnotherOwner(t *testing.T) {
	s := newTied(t)
	s.add(configMaps, "owner")
	s.add(databases, "claim").Finalizers = []string{claimFinalizer}
	s.add(xdatabases, "composite")
	s.add(secrets, "end", to(configMaps, "owner"))
	s.tie(compositeOf, "claim", "end", map[string]any{}, claimFinalizer)
	p := s.plan(Background, "claim")
	wantDeleted(t, p, "claim end")
	wantReason(t, p, "end", LinkDeleted, "claim")
}

// TestNamespaceWithAClaim takes the claim, the composite, which is in no namespace, and what it
// composed; also if the claim was being deleted before.
func TestNamespaceWithAClaim(t *testing.T) {
	for _, policy := range []string{"Background", "Foreground"} {
		for _, before := range []bool{false, true} {
			s := newTied(t)
			s.add(nsType, "ns")
			s.claim(policy, claimFinalizer)
			if before {
				s.objects[databases][0].DeletionTimestamp = 1
			}
			p := s.plan(Background, "ns")
			wantDeleted(t, p, "claim composed composite ns")
			wantReason(t, p, "composite", LinkDeleted, "claim")
			if last := p.Actions[len(p.Actions)-1]; policy == "Foreground" && last.Verb != VerbFinalizeNamespace {
				t.Errorf("the last is %s, want the namespace", last.Verb)
			}
		}
	}
}

// TestSourceThatGoesWithItsEnd: the link leads from the end to the source, and the finalizer is
// that of the end.
func TestSourceThatGoesWithItsEnd(t *testing.T) {
	s := newTied(t)
	back := &link.Definition{Name: "claim",
		Deletion: link.Deletion{Of: link.Source, By: "Crossplane", Finalizer: xrFinalizer, Policy: link.Background,
			Waits: link.WaitsNever}}
	s.add(databases, "claim")
	s.add(xdatabases, "composite").Finalizers = []string{xrFinalizer}
	s.tie(back, "claim", "composite", nil, xrFinalizer)
	p := s.plan(Background, "composite")
	wantDeleted(t, p, "claim composite")
	wantReason(t, p, "claim", LinkDeleted, "composite")
	if p := s.plan(Background, "claim"); len(p.Recreated)+len(p.Kept) > 0 || len(p.Deleted) != 1 {
		t.Errorf("recreated %+v, kept %+v", p.Recreated, p.Kept)
	}
}

// TestProgramWithoutAFinalizer deletes what goes along once the owner is gone, and not before.
func TestProgramWithoutAFinalizer(t *testing.T) {
	s := newTied(t)
	free := &link.Definition{Name: "part",
		Deletion: link.Deletion{Of: link.End, By: "the operator", Policy: link.Background, Waits: link.WaitsNever}}
	s.add(databases, "whole")
	s.add(configMaps, "part")
	s.add(configMaps, "root").Finalizers = []string{"example.com/hold"}
	s.tie(free, "whole", "part", nil)
	p := s.plan(Background, "whole", "root")
	wantDeleted(t, p, "part root whole")
	if got := names(p.Graph, Objects(p.Blocked)); got != "root" {
		t.Errorf("left while the finalizer is there: %q", got)
	}
	p = s.plan(Foreground, "whole")
	if at := waves(p); at["part"] <= at["whole"] || at["whole"] < 2 {
		t.Errorf("deleted in wave %d, and the owner is gone in %d", at["part"], at["whole"])
	}
	s.add(databases, "held").Finalizers = []string{"example.com/hold"}
	s.add(configMaps, "piece")
	s.tie(free, "held", "piece", nil)
	p = s.plan(Background, "held")
	if got := names(p.Graph, Objects(p.Blocked)); got != "held piece" {
		t.Errorf("left while the finalizer is there: %q", got)
	}
}

// waves are those of the last action about each object, by uid.
func waves(p *Plan) map[string]int {
	at := map[string]int{}
	for _, a := range p.Actions {
		uid := p.Graph.Ref(a.Object).UID
		at[uid] = max(at[uid], a.Wave)
	}
	return at
}

// TestGuards: an object is named with its guard unless the guard is gone before its deletion is
// sent. What becomes of it does not change.
func TestGuards(t *testing.T) {
	s := newTied(t)
	s.add(buckets, "bucket")
	s.add(usages, "usage", to(xdatabases, "user"))
	s.add(xdatabases, "user")
	s.tie(guardOf, "usage", "bucket", nil)
	for _, c := range []struct {
		policy Policy
		roots  []string
		want   string
	}{
		{Background, []string{"bucket"}, "bucket usage"},
		{Background, []string{"usage"}, ""},
		{Background, []string{"bucket", "usage"}, "bucket usage"},
		{Background, []string{"bucket", "user"}, "bucket usage"},
	} {
		p := s.plan(c.policy, c.roots...)
		var got []string
		for _, g := range p.Guarded {
			got = append(got, p.Graph.Name(g.Object), p.Graph.Name(g.Guard))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v: guarded %v, want %q", c.roots, got, c.want)
		}
		if slices.Contains(c.roots, "bucket") && !strings.Contains(names(p.Graph, p.Deleted), "bucket") {
			t.Errorf("%v: deleted %s", c.roots, names(p.Graph, p.Deleted))
		}
	}
	// The bucket goes with an owner that waits for the usage first.
	s.objects[buckets][0].Owners = []graph.OwnerReference{to(configMaps, "middle")}
	s.add(configMaps, "top")
	s.add(configMaps, "middle", block(configMaps, "top")).Finalizers = []string{"example.com/hold"}
	s.objects[usages][0].Owners = []graph.OwnerReference{to(roles, "role")}
	s.add(roles, "role")
	s.objects[buckets][0].Owners = []graph.OwnerReference{to(xdatabases, "user")}
	s.objects[xdatabases][0].Finalizers = []string{"example.com/hold"}
	if p := s.plan(Background, "user", "role"); len(p.Guarded) != 0 || len(p.Deleted) != 4 {
		t.Errorf("guarded %+v although the guard is gone before; deleted %s", p.Guarded, names(p.Graph, p.Deleted))
	}
}

// TestRefusedOnlyUntilTheGuardIsGone: the deletion of a composite takes the user of a bucket along, and
// with the user the usage that keeps the bucket, whose deletion is repeated until then. One that
// nothing takes along keeps it for good, as does a policy.
func TestRefusedOnlyUntilTheGuardIsGone(t *testing.T) {
	const all = "bucket composite usage user"
	for _, c := range []struct {
		name     string
		kept     bool // by a guard, and not by a policy
		user     bool // goes along
		bucketBy string
		want     string
	}{
		{"the guard goes", true, true, "", all},
		{"the guard stays", true, false, "", "composite"},
		{"a policy", false, true, "", "composite usage user"},
		{"the user of the guard waits for what it keeps", true, true, "user", "composite"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTied(t)
			s.add(roles, "composite")
			s.add(xdatabases, "user")
			s.add(buckets, "bucket", to(roles, "composite"))
			if c.user {
				s.objects[xdatabases][0].Owners = []graph.OwnerReference{to(roles, "composite")}
			}
			s.add(usages, "usage", to(xdatabases, "user"))
			s.tie(guardOf, "usage", "bucket", nil)
			if c.bucketBy != "" {
				s.objects[xdatabases][0].Finalizers = []string{ForegroundFinalizer}
				s.objects[xdatabases][0].DeletionTimestamp = 1
				s.objects[buckets][0].Owners = append(s.objects[buckets][0].Owners, block(xdatabases, "user"))
			}
			p := s.plan(Background, "composite")
			if c.kept {
				wantDeleted(t, p.WithoutGuarded(), c.want)
			}
			bucket := lookup(t, p.Graph, "bucket")
			var kept []graph.ID
			if c.kept {
				kept = bucket
			}
			p = p.WithoutKept(map[graph.ID]string{bucket[0]: "no"}, kept)
			wantDeleted(t, p, c.want)
			if refuses := !strings.Contains(c.want, "bucket"); p.Refuses(bucket[0]) != refuses || len(p.Protected()) > 0 != refuses {
				t.Errorf("refuses %t, protected %+v", p.Refuses(bucket[0]), p.Protected())
			}
		})
	}
}

// TestADeletionThatIsRepeated: somebody has tried to delete what a guard keeps. Its program deletes
// it when the guard is gone, which nothing refuses any more; the plan of the object says so.
func TestADeletionThatIsRepeated(t *testing.T) {
	replay := &link.Definition{Name: "replay",
		Deletion: link.Deletion{Of: link.End, By: "Crossplane", Finalizer: "example.com/usage", Policy: link.Background,
			Waits:      link.WaitsNever,
			Annotation: "example.com/attempt"}}
	s := newTied(t)
	s.add(buckets, "bucket")
	s.add(usages, "usage").Finalizers = []string{"example.com/usage"}
	s.tie(guardOf, "usage", "bucket", nil)
	s.tie(replay, "usage", "bucket", nil, "example.com/usage")
	p := s.plan(Background, "usage")
	wantDeleted(t, p, "bucket usage")
	if len(p.Guarded) != 0 {
		t.Errorf("guarded %+v although the guard is gone when its program deletes the bucket", p.Guarded)
	}
	p = s.plan(Background, "bucket")
	if len(p.Guarded) != 1 || p.Guarded[0].RepeatedBy != "Crossplane" || !p.IsGuarded(p.Guarded[0].Object) ||
		p.IsGuarded(p.Guarded[0].Guard) {
		t.Errorf("guarded %+v, want the bucket, whose deletion Crossplane repeats", p.Guarded)
	}

	// The server refuses it again as long as another guard is there.
	s.add(usages, "other").Finalizers = []string{"example.com/usage"}
	s.tie(guardOf, "other", "bucket", nil)
	s.tie(replay, "other", "bucket", nil, "example.com/usage")
	wantDeleted(t, s.plan(Background, "usage"), "usage")
	wantDeleted(t, s.plan(Background, "usage", "other"), "bucket other usage")
}

// TestRandomLinks: whatever objects name, a deletion comes to its end, only what is there is
// deleted, and each for a reason that leads to a root or to what was being deleted before.
func TestRandomLinks(t *testing.T) {
	followed, kept := 0, 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 7))
		s := &tied{small: tangle(t, rng)}
		s.add(configMaps, "names-it", to(xdatabases, "absent"))
		var all []string
		for _, list := range s.objects {
			for _, o := range list {
				all = append(all, o.UID)
			}
		}
		slices.Sort(all)
		all = append(all, "absent")
		for range rng.IntN(24) {
			s.ties = append(s.ties, randomTie(rng, all))
		}
		for _, list := range s.objects {
			for i := range list {
				if list[i].Finalizers = slices.Clone(list[i].Finalizers); rng.IntN(2) == 0 {
					list[i].Finalizers = append(list[i].Finalizers, claimFinalizer)
				}
				if rng.IntN(10) == 0 && len(list[i].Finalizers) > 0 {
					list[i].DeletionTimestamp = 1
				}
			}
		}
		g, links := s.build()
		opts := Options{Links: links, Rules: []Rules{Upstream, Loop}[rng.IntN(2)], Strict: rng.IntN(4) == 0}
		roots := lookup(t, g, "o0", fmt.Sprintf("o%d", rng.IntN(4)))
		p := New(g, roots, []Policy{Background, Foreground, Orphan}[rng.IntN(3)], opts)
		because := map[graph.ID]bool{}
		for _, id := range p.Roots {
			because[id] = true
		}
		for _, a := range p.Actions {
			if !g.Observed(a.Object) {
				t.Errorf("seed %d: %s is written to and is not there", seed, g.Ref(a.Object))
			}
			if a.Verb != VerbDelete {
				continue
			}
			if a.Because.Code == LinkDeleted {
				followed++
				if f, ok := p.Link(a.Object, a.Because); !ok || f.Dependent() != a.Object || f.Owner() != a.Because.Cause ||
					!f.Deletes() || !because[a.Because.Cause] && g.State(a.Because.Cause) != graph.Deleting {
					t.Errorf("seed %d: %s is deleted because of %+v", seed, g.Ref(a.Object), a.Because)
				}
			}
			because[a.Object] = true
		}
		for _, id := range p.Deleted {
			if !because[id] && g.State(id) != graph.Deleting {
				t.Errorf("seed %d: %s is gone for no reason", seed, g.Ref(id))
			}
		}
		for _, k := range p.Kept {
			if _, ok := p.Link(k.Object, k.Because); ok {
				kept++
			}
			if p.End().Gone(k.Object) || p.End().Deleting(k.Object) {
				t.Errorf("seed %d: %s is kept, and is not", seed, g.Ref(k.Object))
			}
		}
		for _, r := range p.Recreated {
			if !p.End().Gone(r.Object) || p.End().Gone(r.Owner) || !g.Observed(r.Owner) {
				t.Errorf("seed %d: recreated %+v", seed, r)
			}
		}
	}
	t.Logf("%d deletes along links, %d kept by them", followed, kept)
	if followed < 100 || kept < 20 {
		t.Error("that is too little to show anything")
	}
}

func randomTie(rng *rand.Rand, all []string) tie {
	d := *compositeOf
	d.Deletion.Of = []link.Direction{link.End, link.End, link.End, link.Source, link.Guard, link.Neither}[rng.IntN(6)]
	if rng.IntN(5) == 0 {
		d.Deletion.Finalizer = ""
	}
	r := tie{definition: &d, source: all[rng.IntN(len(all)-1)], end: all[rng.IntN(len(all))]}
	r.effect = link.Effect{Deletes: rng.IntN(5) > 0, Policy: []link.Policy{link.Background, link.Foreground}[rng.IntN(2)],
		Waits: rng.IntN(2) == 0}
	if !r.effect.Deletes {
		r.effect = link.Effect{Why: "spec.suspend is true"}
	}
	if rng.IntN(6) == 0 {
		r.kept = "annotation keep is set"
	}
	return r
}
