package collect_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
)

// U02: the pod is gone when it is deleted. That is what was wanted, and no error.
func TestAttemptToDeleteItemDeleteObjectNotFound_U02(t *testing.T) {
	replay(t, func(s *stage) {
		pod := s.create("Pod", "pod", by(absent("v1", "ReplicationController", "rc")))
		s.goesBeforeItsDeletion(pod)
		s.collect(s.gone(pod))
	})
}

// U03: so it is for a pod whose owner waits for it.
func TestAttemptToDeleteItemDeleteObjectNotFoundWaitingForDependents_U03(t *testing.T) {
	replay(t, func(s *stage) {
		rc := s.create("ReplicationController", "rc")
		pod := s.create("Pod", "pod", by(blocking(rc)))
		s.goesBeforeItsDeletion(pod)
		s.delete(rc, foreground)
		s.collect(s.gone(rc, pod))
	})
}

// goesBeforeItsDeletion has somebody else delete an object just before the loop does.
func (s *stage) goesBeforeItsDeletion(o *object) {
	if l := s.loop(); l != nil {
		l.faults(s).On(deletes(o), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			s.delete(o, background)
			next.ServeHTTP(w, r)
		})
	}
}

// U04: upstream reads the pod and its owner and deletes the pod. The loop has the pod from its
// listing.
func TestAttemptToDeleteItem_U04(t *testing.T) {
	replay(t, func(s *stage) {
		pod := s.create("Pod", "pod", by(absent("v1", "ReplicationController", "rc")))
		l := s.loop()
		if l != nil {
			l.faults(s)
		}
		s.collect(s.gone(pod))
		if l != nil {
			want := []string{"GET " + s.ns + "/replicationcontrollers/rc", "DELETE " + s.ns + "/pods/pod"}
			if got := l.requests(s); !slices.Equal(got, want) {
				t.Errorf("requests %v, want %v", got, want)
			}
		}
	})
}

// U07, test3: a cycle that nobody deletes is kept. Nothing traces what can be reached (GC-065).
func TestProcessEvent_U07(t *testing.T) {
	replay(t, func(s *stage) {
		one := s.create("ConfigMap", "1")
		two := s.create("ConfigMap", "2", by(owner(one)))
		three := s.create("ConfigMap", "3", by(owner(one), owner(two)))
		four := s.create("ConfigMap", "4", by(owner(three)))
		s.own(two, owner(four))
		s.delete(one, background)
		s.collect(s.gone(one), s.stays(two, four), s.stays(three, two), s.stays(four, three))
	})
}

// U11: an owner that is absent is asked for once, however many dependents it has.
func TestAbsentOwnerCache_U11(t *testing.T) {
	replay(t, func(s *stage) {
		var pods []*object
		for i, rc := range []string{"rc1", "rc2", "rc3", "rc1"} {
			pods = append(pods, s.create("Pod", fmt.Sprintf("pod%d", i), by(absent("v1", "ReplicationController", rc))))
		}
		l := s.loop()
		if l != nil {
			l.faults(s)
		}
		s.collect(s.gone(pods...))
		if l != nil {
			asked := map[string]int{}
			for _, r := range l.requests(s) {
				asked[r]++
			}
			for _, rc := range []string{"rc1", "rc2", "rc3"} {
				if n := asked["GET "+s.ns+"/replicationcontrollers/"+rc]; n != 1 {
					t.Errorf("%s was asked for %d times", rc, n)
				}
			}
			if len(asked) != 3+len(pods) {
				t.Errorf("requests %v", asked)
			}
		}
	})
}

// U12: of three owners two are gone; exactly those references are removed, of a built-in and of a
// custom object.
func TestDeleteOwnerRefPatch_U12(t *testing.T) {
	replay(t, func(s *stage) {
		one, two, three := s.create("ConfigMap", "1"), s.create("ConfigMap", "2"), s.create("ConfigMap", "3")
		pod := s.create("Pod", "pod", by(owner(one), owner(two), owner(three)))
		gadget := s.create("Gadget", "gadget", by(owner(two), owner(one), owner(three)))
		s.delete(two, background)
		s.delete(three, background)
		s.collect(s.gone(two, three), s.stays(pod, one), s.stays(gadget, one))
	})
}

// U13: only references that block are unblocked, so that what may be a cycle comes to an end
// (GC-054). For a custom object the collector writes the flag into all of them (GC-071); the loop
// does what is right for all types.
func TestUnblockOwnerReference_U13(t *testing.T) {
	for _, kind := range []string{"ConfigMap", "Gadget"} {
		t.Run(kind, func(t *testing.T) {
			replay(t, func(s *stage) {
				a, b, c := s.create("ConfigMap", "a"), s.create("ConfigMap", "b"), s.create("ConfigMap", "c")
				unheard := absent("unheard.example.com/v1", "Unheard", "unheard")
				item := s.create(kind, "item", held("x/y"), by(blocking(a), nonBlocking(b), owner(c), unheard))
				s.own(a, blocking(item))
				s.delete(b, background)
				s.delete(c, background)
				s.delete(a, foreground) // the item is not judged before it has lost the last reference
				s.collector.observe(s)  // else the collector does not see a cycle, and waits for ever (GC-064)
				s.own(item, blocking(a), nonBlocking(b), owner(c))
				want := []string{"false", "false", ""}
				if s.loop() == nil && kind == "Gadget" {
					want = []string{"false", "false", "false"}
				}
				s.collect(s.gone(a, b, c), s.deleting(item, "x/y"), s.expect(item, func(now *object) string {
					if got := flags(now); !slices.Equal(got, want) {
						return fmt.Sprintf("blockOwnerDeletion is %q, want %q", got, want)
					}
					return ""
				}))
			})
		})
	}
}

// flags are what the references of an object say of blocking.
func flags(o *object) []string {
	var flags []string
	for _, r := range o.GetOwnerReferences() {
		flag := ""
		if r.BlockOwnerDeletion != nil {
			flag = fmt.Sprint(*r.BlockOwnerDeletion)
		}
		flags = append(flags, flag)
	}
	return flags
}

// U14: a dependent cannot be orphaned, so its owner keeps the finalizer; and is let go when it can.
func TestOrphanDependentsFailure_U14(t *testing.T) {
	replay(t, func(s *stage) {
		rc := s.create("ReplicationController", "rc")
		pod := s.create("Pod", "pod", by(controlled(rc)))
		s.delete(rc, orphan)
		if l := s.loop(); l != nil {
			p := l.faults(s)
			p.On(patches(pod), faultproxy.Status(http.StatusConflict, metav1.StatusReasonConflict,
				"the object has been modified"))
			l.run(s)
			l.check(s, []expectation{s.deleting(rc, plan.OrphanFinalizer), s.untouched(pod)})
			if len(l.refused) == 0 || l.refused[0].Action.Object.Name != "pod" {
				t.Errorf("told as refused: %v", l.refused)
			}
			l.proxy = nil
		}
		s.collect(s.gone(rc), s.stays(pod))
	})
}

// U15: of what discovery says, only what can be listed, watched and deleted is collected (GC-001).
func TestGetDeletableResources_U15(t *testing.T) {
	replayLoop(t, func(s *stage, l *ours) {
		pod := s.create("Pod", "pod", by(absent("v1", "ReplicationController", "rc")))
		secret := s.create("Secret", "secret", by(absent("v1", "ReplicationController", "rc")))
		cm := s.create("ConfigMap", "cm", by(absent("v1", "ReplicationController", "rc")))
		p := l.faults(s)
		p.On(discovers("/api"), edited(func(groups []any) []any {
			eachResource(groups, func(r map[string]any) {
				switch r["resource"] {
				case "secrets":
					r["verbs"] = []any{}
				case "configmaps":
					r["verbs"] = []any{"delete"}
				}
			})
			return groups
		}))
		s.collect(s.gone(pod), s.untouched(secret, cm))
		for _, r := range p.Requests() {
			if r.Query.Has("limit") && strings.HasSuffix(r.Path, "/secrets") {
				t.Errorf("listed %s", r.Path)
			}
		}
	})
}

// U16 and U18: discovery fails as a whole, with and without some results. Nothing is concluded from
// what there is of it (RO-013).
func TestGetDeletableResourcesDiscoveryFailure_U16_U18(t *testing.T) {
	for name, paths := range map[string][]string{"UsableResults": {"/apis"}, "NoResults": {"/api", "/apis"}} {
		t.Run(name, func(t *testing.T) {
			replayLoop(t, func(s *stage, l *ours) {
				pod := s.create("Pod", "pod", by(absent("v1", "ReplicationController", "rc")))
				for _, path := range paths {
					l.faults(s).On(discovers(path),
						faultproxy.Status(http.StatusInternalServerError, metav1.StatusReasonInternalError, "internal error"))
				}
				if err := l.try(s); err == nil {
					t.Error("a run without discovery ended well")
				}
				l.check(s, []expectation{s.untouched(pod)})
				l.proxy = nil
				s.collect(s.gone(pod))
			})
		})
	}
}

// U17: of one group nothing is known. Its kinds are unknown as owners, and what they might depend
// on keeps its finalizer (RO-012, RO-013).
func TestGetDeletableResourcesPartialDiscoveryFailure_U17(t *testing.T) {
	replayLoop(t, func(s *stage, l *ours) {
		pod := s.create("Pod", "pod", by(absent("v1", "ReplicationController", "rc")))
		unjudged := s.create("Pod", "unjudged", by(absent("apps/v1", "Deployment", "deployment")))
		waits := s.create("ConfigMap", "waits")
		s.delete(waits, foreground)
		p := l.faults(s)
		p.On(discovers("/apis"), stale("apps"))
		s.collect(s.gone(pod), s.untouched(unjudged), s.deleting(waits, plan.ForegroundFinalizer))
		if !slices.ContainsFunc(l.summary.Gaps, func(g v1alpha1.Gap) bool { return g.Group == "apps" }) {
			t.Errorf("no gap for apps: %v", l.summary.Gaps)
		}
		if why := l.left(unjudged); why != plan.OwnerUnresolved {
			t.Errorf("the pod is left because of %q", why)
		}
		l.proxy = nil
		s.collect(s.gone(unjudged, waits))
	})
}

// U19: discovery and the listing of one type fail now and then. What is known is worked with, what
// is not is a gap, and in the end all is done.
func TestGarbageCollectorSync_U19(t *testing.T) {
	// It takes more than 10 s beside others: the loop tries again where discovery and lists fail.
	replayLoop(t, func(s *stage, l *ours) {
		p := l.faults(s)
		serve := func(_ *http.Request) bool { return true }
		pass := func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) }
		doomed := func(kind, name string) *object {
			return s.create(kind, name, by(absent("v1", "ReplicationController", "rc")))
		}
		s.collect(s.gone(doomed("Pod", "before")))

		pod := doomed("Pod", "discovery-error")
		p.On(discovers("/apis"), faultproxy.Status(http.StatusInternalServerError, metav1.StatusReasonInternalError,
			"internal error"))
		if err := l.try(s); err == nil {
			t.Error("a run without discovery ended well")
		}
		l.check(s, []expectation{s.untouched(pod)})
		p.On(serve, pass)
		s.collect(s.gone(pod))

		pod, secret := doomed("Pod", "unlistable"), doomed("Secret", "unlistable")
		p.On(lists("secrets"), faultproxy.Plain(http.StatusNotFound, "404 page not found"))
		s.collect(s.gone(pod), s.untouched(secret))
		gap := func(resource string) bool {
			return slices.ContainsFunc(l.summary.Gaps, func(g v1alpha1.Gap) bool { return g.Resource == resource })
		}
		if !gap("secrets") {
			t.Errorf("no gap for secrets: %v", l.summary.Gaps)
		}

		deployment := doomed("Deployment", "stale")
		p.On(discovers("/apis"), stale("apps"))
		s.collect(s.untouched(secret, deployment))
		p.On(serve, pass)
		p.On(lists("secrets"), faultproxy.Plain(http.StatusNotFound, "404 page not found"))
		s.collect(s.gone(deployment), s.untouched(secret))
		p.On(serve, pass)
		s.collect(s.gone(secret))
		if len(l.summary.Gaps) > 0 {
			t.Errorf("gaps in the end: %v", l.summary.Gaps)
		}
	})
}

// discovers matches a request for what is served.
func discovers(path string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.URL.Path == path }
}

// edited changes the groups of an aggregated discovery answer.
func edited(edit func(groups []any) []any) faultproxy.Fault {
	return faultproxy.Edit(func(v any) any {
		answer := v.(map[string]any)
		answer["items"] = edit(answer["items"].([]any))
		return answer
	})
}

// stale marks a group as one whose server does not answer.
func stale(group string) faultproxy.Fault {
	return edited(func(groups []any) []any {
		for _, g := range groups {
			g := g.(map[string]any)
			if g["metadata"].(map[string]any)["name"] != group {
				continue
			}
			for _, v := range g["versions"].([]any) {
				v.(map[string]any)["freshness"] = "Stale"
			}
		}
		return groups
	})
}

func eachResource(groups []any, f func(map[string]any)) {
	for _, g := range groups {
		for _, v := range g.(map[string]any)["versions"].([]any) {
			for _, r := range v.(map[string]any)["resources"].([]any) {
				f(r.(map[string]any))
			}
		}
	}
}
