package collect

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// refer gives an object references besides those that it has, each with the uid of one object and
// the kind and name of another.
func (s *fixture) refer(name string, refs ...metav1.OwnerReference) {
	s.t.Helper()
	ctx, maps := s.t.Context(), s.client.CoreV1().ConfigMaps(s.namespace)
	o, err := maps.Get(ctx, name, metav1.GetOptions{})
	if err == nil {
		o.OwnerReferences = append(refs, o.OwnerReferences...)
		_, err = maps.Update(ctx, o, metav1.UpdateOptions{})
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// as is a reference to an object under another name or kind.
func (s *fixture) as(kind, name, object string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: kind, Name: name, UID: s.uids[object]}
}

// releases are scenarios in which an owner waits, most to orphan its dependents, and what is left of
// them: with the loop, and with the collector. They are named after the reference to the one that
// orphans.
var releases = []struct {
	name string
	make func(*fixture)
	left []string
	// or is what the collector may leave instead, and chance says that it is as likely as not.
	or     []string
	chance bool
}{
	{"another name", func(s *fixture) {
		s.make("o", "a", "below < a")
		s.refer("a", s.as("ConfigMap", "other", "o"))
		s.delete(plan.Orphan, "o")
	}, []string{"a", "below < a"}, nil, false},
	{"another kind", func(s *fixture) {
		s.make("o", "a")
		s.refer("a", s.as("Secret", "o", "o"))
		s.delete(plan.Orphan, "o")
	}, []string{"a"}, nil, false},
	{"another name, and a solid owner", func(s *fixture) {
		s.make("o", "solid", "a < solid")
		s.refer("a", s.as("ConfigMap", "other", "o"))
		s.delete(plan.Orphan, "o")
	}, []string{"a < solid", "solid"}, nil, false},
	{"another name, and an owner that is gone", func(s *fixture) {
		s.make("o", "a < nobody")
		s.refer("a", s.as("ConfigMap", "other", "o"))
		s.delete(plan.Orphan, "o")
	}, nil, nil, false},
	{"another name, and an owner that waits", func(s *fixture) {
		s.make("o", "f", "a < f+")
		s.refer("a", s.as("ConfigMap", "other", "o"))
		s.delete(plan.Orphan, "o")
		s.delete(plan.Foreground, "f")
	}, nil, nil, false},
	{"its name, and an owner that is gone", func(s *fixture) {
		s.make("o", "a < o nobody")
		s.delete(plan.Orphan, "o")
	}, []string{"a"}, nil, true},
	{"its name, and an owner that waits", func(s *fixture) {
		s.make("o", "f", "a < o f+")
		s.delete(plan.Orphan, "o")
		s.delete(plan.Foreground, "f")
	}, []string{"a"}, nil, true},
	{"two owners that orphan", func(s *fixture) {
		s.make("o", "p", "a < p")
		s.refer("a", s.as("ConfigMap", "other", "o"))
		s.delete(plan.Orphan, "o", "p")
	}, []string{"a"}, nil, false},
	{"an owner that is held", func(s *fixture) {
		s.make("o | "+hold, "a")
		s.refer("a", s.as("ConfigMap", "other", "o"))
		s.delete(plan.Orphan, "o")
	}, []string{"-o | " + hold, "a"}, []string{"-o | " + hold}, false},
	{"an owner that has lost its own", func(s *fixture) {
		s.make("o < nobody | orphan", "a", "b < o")
		s.refer("a", s.as("ConfigMap", "other", "o"))
	}, []string{"a", "b"}, []string{"b"}, true},
	{"an owner that only seems to have lost its own", func(s *fixture) {
		s.make("solid", "o < nobody solid | orphan", "a")
		s.refer("a", s.as("ConfigMap", "other", "o"))
	}, []string{"o < solid | orphan", "solid"}, nil, false},
	{"none, but a held owner that waits and is not blocked", func(s *fixture) {
		s.make("f | "+hold, "a < f")
		s.delete(plan.Foreground, "f")
	}, []string{"-f | " + hold, "a < f"}, []string{"-f | " + hold}, true},
	{"none, but a held owner that waits and is blocked", func(s *fixture) {
		s.make("f | "+hold, "a < f", "b < f+ | "+hold)
		s.delete(plan.Foreground, "f")
	}, []string{"-b < f+ | " + hold, "-f | " + hold + " foregroundDeletion", "a < f"},
		[]string{"-b < f+ | " + hold, "-f | " + hold + " foregroundDeletion"}, true},
	{"none, but an owner that waits, and another that goes", func(s *fixture) {
		s.make("f", "x < nobody", "d < f+ x | "+hold)
		s.delete(plan.Foreground, "f")
	}, []string{"-d < f+ x | " + hold, "-f | foregroundDeletion"}, []string{"-d < x | " + hold}, true},
	{"its own, and an owner that waits, and another that goes", func(s *fixture) {
		s.make("f", "x < nobody", "d < f+ x | orphan", "e < d")
		s.delete(plan.Foreground, "f")
	}, []string{"e"}, nil, true},
}

// TestWhatAnOrphaningOwnerKeepsIsReleasedBeforeItIsJudged: an owner waits to orphan its dependents,
// and one of them names it by its uid and by another name or kind, so that it seems to be gone. The
// collector removes references by the uid alone (GC-067); so does the loop, before it judges what
// has them. The plan of the run foretells the same.
func TestWhatAnOrphaningOwnerKeepsIsReleasedBeforeItIsJudged(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for _, tt := range releases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t, c)
			tt.make(s)
			client := newClient(t, c)
			snapshot, err := New(client, s.options()).Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			p := plan.NewRun(snapshot.Graph,
				plan.Options{Proven: snapshot.Proven,
					Allow: func(id graph.ID) bool { return within(s.namespace)(snapshot.Graph, id) }})
			var planned []string
			for i := range snapshot.Graph.Len() {
				if id := graph.ID(i); snapshot.Graph.Ref(id).Resource == "configmaps" && snapshot.Graph.Observed(id) &&
					!p.End().Gone(id) {
					planned = append(planned, snapshot.Graph.Ref(id).Name)
				}
			}
			s.run(client, s.options())
			s.check(tt.left...)
			var names []string
			for _, line := range tt.left {
				names = append(names, nameOf(line))
			}
			slices.Sort(planned)
			slices.Sort(names)
			if diff := cmp.Diff(names, planned); diff != "" {
				t.Errorf("the plan: (-want +planned)\n%s", diff)
			}
		})
	}
}

// TestTheCollectorReleasesBeforeItDeletes plays the same before the real collector, which is not
// there until then. It takes up owners and dependents side by side, so a few copies of each are
// made: one ends as the loop does, and where it is chance, all end in one of two ways.
func TestTheCollectorReleasesBeforeItDeletes(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.NoControllers())
	const copies = 3
	fixtures := map[string][]*fixture{}
	for _, tt := range releases {
		for range copies {
			s := newFixture(t, c)
			tt.make(s)
			fixtures[tt.name] = append(fixtures[tt.name], s)
		}
	}
	c.StartControllers(t, testcluster.Collector)
	for _, tt := range releases {
		t.Run(tt.name, func(t *testing.T) {
			alike := 0
			testcluster.Eventually(t, "the collector comes to an end", func(context.Context) (bool, error) {
				alike = 0
				ended := 0
				for _, s := range fixtures[tt.name] {
					left := s.left()
					if slices.Equal(left, tt.left) {
						alike++
						ended++
					} else if slices.Equal(left, tt.or) {
						ended++
					}
				}
				return ended == copies, nil
			})
			if t.Logf("%d of %d end as the loop does", alike, copies); alike == 0 && !tt.chance {
				t.Errorf("none of %d copies ends as with the loop, which is %q", copies, tt.left)
			}
		})
	}
}

// TestManyDependentsOfAnOwnerThatOrphansAreKept, each of which seems to have lost it.
func TestManyDependentsOfAnOwnerThatOrphansAreKept(t *testing.T) {
	// It takes more than 10 s beside others: forty objects are made one after the other.
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("o")
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("a%02d", i))
		s.make(names[i])
		s.refer(names[i], s.as("ConfigMap", "other", "o"))
	}
	s.delete(plan.Orphan, "o")
	s.run(newClient(t, c), s.options())
	s.check(names...)
}

// TestWhatCannotBeReleasedIsNotJudged: the patch that is to release a dependent is refused. It is
// left alone, and its owner waits.
func TestWhatCannotBeReleasedIsNotJudged(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("o", "a", "b < nobody", "c < o nobody")
	s.refer("a", s.as("ConfigMap", "other", "o"))
	s.refer("b", s.as("Secret", "o", "o"))
	s.delete(plan.Orphan, "o")
	proxy, client := proxied(t, c)
	proxy.On(func(r *http.Request) bool { return r.Method == http.MethodPatch },
		faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "you may not"))
	opts := s.options()
	events := record(&opts)
	if _, err := New(client, opts).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, e := range *events {
		if e.Err == nil {
			t.Errorf("%s %s was done", e.Action.Verb, e.Action.Object.Name)
		}
	}
	s.check("-o | orphan", "a < other", "b < o nobody", "c < o nobody")
}

// TestAnOwnerThatBeginsToOrphanAfterItWasListedIsAskedFirst: the listing shows it alive under
// another name, and before its dependent is judged somebody deletes it with the policy Orphan.
func TestAnOwnerThatBeginsToOrphanAfterItWasListedIsAskedFirst(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("o", "a")
	s.refer("a", s.as("ConfigMap", "other", "o"))
	proxy, client := proxied(t, c)
	deleted := before(proxy, faultproxy.Path("/configmaps/other"), func() { s.delete(plan.Orphan, "o") })
	opts := s.options()
	opts.Agree = AgreeToAll
	s.run(client, opts)
	if !deleted() {
		t.Fatal("the reference was not looked up")
	}
	s.check("a")
}

// TestAnOwnerOutsideTheListingThatOrphansIsFound: a run of one namespace does not list the owner,
// which is in another or in none.
func TestAnOwnerOutsideTheListingThatOrphansIsFound(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s, other := newFixture(t, c), newFixture(t, c)
	other.make("o")
	role := s.role("role")
	s.ownedBy("a", metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: other.uids["o"]})
	s.ownedBy("b", metav1.OwnerReference{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "another",
		UID: role.UID})
	other.delete(plan.Orphan, "o")
	orphan := metav1.DeletePropagationOrphan
	if err := s.client.RbacV1().ClusterRoles().Delete(t.Context(), role.Name,
		metav1.DeleteOptions{PropagationPolicy: &orphan}); err != nil {
		t.Fatal(err)
	}
	s.run(newClient(t, c), s.options())
	s.check("a < o", "b < another")
	opts := s.options()
	opts.List.Namespace = ""
	opts.Allow = func(g *graph.Graph, id graph.ID) bool {
		return among([]*fixture{s, other})(g, id) || strings.HasPrefix(g.Ref(id).Name, s.namespace+"-")
	}
	s.run(newClient(t, c), opts)
	s.check("a", "b")
}

// nameOf is the name at the beginning of a line of left.
func nameOf(line string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(line, "-"), " ")
	return name
}
