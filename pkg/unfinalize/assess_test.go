package unfinalize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// object describes one: its kind, whether it is being deleted, its finalizers and, after a colon,
// those of a namespace's spec.
func object(kind string, deleted bool, finalizers string) *unstructured.Unstructured {
	meta, spec, _ := strings.Cut(finalizers, ":")
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": kind,
		"metadata": map[string]any{"name": "o", "uid": "u", "finalizers": list2any(strings.Fields(meta))},
		"spec":     map[string]any{"finalizers": list2any(strings.Fields(spec))},
	}}
	if deleted {
		o.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	}
	return o
}

// TestVerdicts is the table of what is done about a finalizer, and what speaks against it.
func TestVerdicts(t *testing.T) {
	with := func(life actor.Life, risk finalizer.Risk) actor.Actor {
		return actor.Actor{Life: life, Found: life != actor.Unknown, IsKnown: risk != "",
			Known: finalizer.Known{Actor: "widget operator", Risk: risk, Polarity: finalizer.Cleanup, IfRemoved: "x leaks"},
			Who:   "the widget operator"}
	}
	var (
		dead    = with(actor.Dead, finalizer.LeaksExternal)
		alive   = with(actor.Alive, finalizer.LeaksExternal)
		data    = with(actor.Dead, finalizer.DataLoss)
		breaks  = with(actor.Unknown, finalizer.BreaksCluster)
		nobody  = with(actor.Unknown, "")
		used    = with(actor.Dead, finalizer.RiskNone)
		unread  = with(actor.Alive, finalizer.RiskNone)
		nothing = Details{Empty: &Emptiness{}}
		left    = Details{Empty: &Emptiness{Remaining: []graph.Ref{{Name: "x"}}}}
		gap     = Details{Empty: &Emptiness{Gaps: []v1alpha1.Gap{{Resource: "secrets"}}}}
		hiding  = Details{Hiding: []v1alpha1.Gap{{Resource: "secrets"}}}
	)
	used.Users, unread.UsersUnread = []actor.User{{Object: object("Pod", false, "")}}, errors.New("forbidden")
	for _, c := range []struct {
		kind, held, name string
		deleted          bool
		actor            actor.Actor
		facts            Details
		want             string
	}{
		{"Pod", "h", "h", true, dead, Details{}, "Patch"},
		{"Pod", "h", "h", true, nobody, Details{}, "Patch ActorNotFound--force"},
		{"Pod", "h", "h", true, alive, Details{}, "Patch ActorAlive--force"},
		{"Pod", "h", "h", true, data, Details{}, "Patch DataLoss--force"},
		{"Pod", "h", "h", true, used, Details{}, "Patch InUse--force"},
		{"Pod", "h", "h", true, unread, Details{}, "Patch UseUnknown--force ActorAlive--force"},
		{"Pod", "h", "h", true, breaks, Details{}, "Patch BreaksCluster--force ActorNotFound--force"},
		{"Pod", "h", "h", false, dead, Details{}, "Patch NotDeleting--force-live"},
		{"Pod", "h", "h", false, alive, Details{}, "Patch NotDeleting--force-live ActorAlive--force"},
		// The collector's own, on what is being deleted.
		{"Pod", "orphan", "orphan", true, data, Details{}, "Orphan"},
		{"Pod", "orphan", "orphan", true, data, hiding, "Orphan HiddenDependents"},
		{"Pod", "orphan", "orphan", true, data, Details{Unlisted: true}, "Orphan HiddenDependents"},
		{"Pod", "orphan", "orphan", true, alive, Details{}, "Orphan ActorAlive--force"},
		{"Pod", "orphan", "orphan", false, data, Details{}, "Patch NotDeleting--force-live DataLoss--force"},
		{"Pod", "foregroundDeletion h", "foregroundDeletion", true, alive, Details{}, "Policy"},
		{"Pod", "foregroundDeletion", "foregroundDeletion", true, alive, Details{}, "Patch"},
		{"Pod", "foregroundDeletion", "foregroundDeletion", false, alive, Details{},
			"Patch NotDeleting--force-live ActorAlive--force"},
		{"Namespace", "foregroundDeletion h:kubernetes", "foregroundDeletion", true, dead, Details{}, "Patch"},
		// The spec of a namespace.
		{"Namespace", ":kubernetes", "kubernetes", true, breaks, nothing, "Finalize"},
		{"Namespace", ":kubernetes", "kubernetes", true, alive, nothing, "Finalize ActorAlive--force"},
		{"Namespace", ":kubernetes", "kubernetes", true, breaks, left, "Finalize NotEmpty--force"},
		{"Namespace", ":kubernetes", "kubernetes", true, breaks, gap, "Finalize NotProvenEmpty--force"},
		{"Namespace", ":kubernetes", "kubernetes", true, breaks, Details{}, "Finalize NotProvenEmpty--force"},
		{"Namespace", ":kubernetes", "kubernetes", false, breaks, nothing,
			"Finalize NotDeleting--force-live NotEmpty--force"},
		{"Namespace", ":kubernetes x", "x", true, dead, Details{}, "Finalize"},
		{"Namespace", ":x", "x", true, dead, Details{}, "Finalize NotProvenEmpty--force"},
	} {
		o := object(c.kind, c.deleted, c.held)
		v := Assess(o, named(o, []string{c.name})[0], []string{c.name}, c.actor, c.facts)
		got := string(v.Method)
		for _, r := range v.Refusals {
			got += fmt.Sprintf(" %s%s", r.Code, r.Override)
		}
		if got != c.want {
			t.Errorf("%s with %q: %s of %s, want %s", c.kind, c.held, got, c.name, c.want)
		}
	}
}

// TestPodInItsGracePeriodStaysWithoutTheFinalizer: it is removed by a patch, and what holds the pod
// then is said.
func TestPodInItsGracePeriodStaysWithoutTheFinalizer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(podType, onNode("waits", hold))
	f.delete(podType, "waits", metav1.DeletePropagationForeground)
	c := f.judge(f.client, podType, []string{plan.ForegroundFinalizer, hold}, "waits")[0]
	o := f.perform(f.client, Options{}, c)[0]
	want(t, o, "removeFinalizer waits "+hold+","+plan.ForegroundFinalizer+"; left: ")
	if o.Grace != 30 || o.Node != "gone" || o.Half {
		t.Errorf("grace %d, node %q, half %t", o.Grace, o.Node, o.Half)
	}
	c = f.judge(f.client, podType, nil, "waits")[0]
	if got := codes(c, Overrides{Force: true}); !slices.Equal(got, []Code{NothingHeld}) {
		t.Errorf("refusals %v, want NothingHeld", got)
	}
}

// TestForegroundBecomesBackground on built-in and on custom objects: alone, and beside what others
// hold.
func TestForegroundBecomesBackground(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.custom()
	for _, typ := range []graph.Type{configMapType, heldType} {
		f.make(typ, "alone")
		f.make(typ, "held", hold)
		f.make(typ, "both", hold)
		for _, name := range []string{"alone", "held", "both"} {
			f.delete(typ, name, metav1.DeletePropagationForeground)
		}
		candidates := f.judge(f.client, typ, []string{plan.ForegroundFinalizer}, "alone", "held")
		outcomes := f.perform(f.client, Options{}, candidates...)
		want(t, outcomes[0], "removeFinalizer alone foregroundDeletion; gone")
		want(t, outcomes[1], "delete held foregroundDeletion; left: "+hold)
		both := f.judge(f.client, typ, []string{plan.ForegroundFinalizer, hold}, "both")
		want(t, f.perform(f.client, Options{}, both...)[0], "removeFinalizer both "+hold+",foregroundDeletion; gone")
		f.is(typ, "held", hold)
	}
}

// TestRestrictedUser: what may not be done is refused beforehand, and no flag overrides that.
func TestRestrictedUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.make(configMapType, "held", hold)
	f.delete(configMapType, "held", metav1.DeletePropagationForeground)
	f.make(secretType, "secret", hold)
	f.delete(secretType, "secret", metav1.DeletePropagationForeground)
	user := "uma-" + f.namespace
	f.c.Kubectl(t, "create", "role", user, "-n", f.namespace, "--verb=get,list,patch", "--resource=configmaps")
	f.c.Kubectl(t, "create", "role", user+"-see", "-n", f.namespace, "--verb=get,list", "--resource=secrets")
	for _, role := range []string{user, user + "-see"} {
		f.c.Kubectl(t, "create", "rolebinding", role, "-n", f.namespace, "--role="+role, "--user="+user)
	}
	for verb, resource := range map[string]string{"patch": "configmaps", "list": "secrets"} {
		testcluster.Eventually(t, user+" to be allowed to "+verb, func(ctx context.Context) (bool, error) {
			return f.c.Command(ctx, "auth", "can-i", verb, resource, "--as", user, "-n", f.namespace).Run() == nil, nil
		})
	}
	client := connect(t, f.c.As(user))
	force := Overrides{Force: true, ForceLive: true}
	for _, c := range []struct {
		t          graph.Type
		name       string
		finalizers []string
		want       []Code
	}{
		{configMapType, "held", []string{hold}, nil},
		{configMapType, "held", []string{plan.ForegroundFinalizer}, []Code{Forbidden}}, // which is a delete
		{secretType, "secret", []string{hold}, []Code{Forbidden}},
	} {
		judged := f.judge(client, c.t, c.finalizers, c.name)
		Rights(t.Context(), client, judged)
		if got := codes(judged[0], force); !slices.Equal(got, c.want) {
			t.Errorf("%s %v: refusals %v, want %v", c.name, c.finalizers, got, c.want)
		}
	}
}

// TestDeadNeedsAWitness: without one, a finalizer whose removal leaves something undone comes off
// with --force, or by an answer to a question that names it.
func TestDeadNeedsAWitness(t *testing.T) {
	var (
		leaks = finalizer.Known{Actor: "bucket operator", Risk: finalizer.LeaksExternal, Polarity: finalizer.Cleanup,
			IfRemoved: "the bucket leaks"}
		deletes = finalizer.Known{Actor: "bucket operator", Risk: finalizer.RiskNone, Polarity: finalizer.OptInDestructive,
			IfRemoved: "the resources stay"}
		notes = finalizer.Known{Actor: "bucket operator", Risk: finalizer.RiskNone, Polarity: finalizer.Bookkeeping,
			IfRemoved: "a count is wrong"}
		guards = finalizer.Known{Actor: "PVC protection controller", Risk: finalizer.RiskNone, Polarity: finalizer.Guard,
			IfRemoved: "nothing"}
		scaled = []*unstructured.Unstructured{{}}
	)
	of := func(k finalizer.Known, a actor.Actor) actor.Actor {
		a.Known, a.IsKnown, a.Who = k, true, k.Who()
		return a
	}
	for _, c := range []struct {
		name  string
		actor actor.Actor
		want  string
		says  string
	}{
		{"not found", of(leaks, actor.Actor{Life: actor.Unknown, Searched: []string{"Deployment buckets", "Lease buckets"}}),
			"ActorNotFound",
			"the bucket operator was not found (looked for Deployment buckets and Lease buckets), which does not mean that it is not running; removing it skips the cleanup: the bucket leaks"},
		{"not found and called dead", of(leaks, actor.Actor{Life: actor.Dead}), "ActorNotFound",
			"the bucket operator was not found, which does not mean that it is not running; removing it skips the cleanup: the bucket leaks"},
		{"found, and its life is unknown", of(leaks, actor.Actor{Life: actor.Unknown, Found: true}), "ActorUnknown",
			"whether the bucket operator is running is not known; removing it skips the cleanup: the bucket leaks"},
		{"outside", of(leaks, actor.Actor{Life: actor.Unknown, Outside: true}), "ActorOutside",
			"the bucket operator can run outside the cluster, where it may be running; removing it skips the cleanup: the bucket leaks"},
		{"outside and called dead", of(leaks, actor.Actor{Life: actor.Dead, Outside: true, Found: true}), "ActorOutside",
			"the bucket operator can run outside the cluster, where it may be running; removing it skips the cleanup: the bucket leaks"},
		{"dead, with a witness", of(leaks, actor.Actor{Life: actor.Dead, Found: true}), "", ""},
		{"scaled to 0", of(leaks, actor.Actor{Life: actor.Dead, Scaled: scaled}), "", ""},
		{"honouring it deletes", of(deletes, actor.Actor{Life: actor.Unknown}), "ActorNotFound",
			"the bucket operator was not found, which does not mean that it is not running; " + deletes.OnRemoval()},
		{"bookkeeping", of(notes, actor.Actor{Life: actor.Unknown}), "", ""},
		{"a guard that costs nothing", of(guards, actor.Actor{Life: actor.Unknown}), "", ""},
		{"nothing is known of it", actor.Actor{Life: actor.Unknown}, "ActorUnknown",
			"the controller that removes it is not known; unknown which cleanup is skipped"},
		{"nothing but who wrote it", actor.Actor{Life: actor.Unknown, Who: "buckets"}, "ActorNotFound",
			"buckets was not found, which does not mean that it is not running; unknown which cleanup is skipped"},
		{"nothing but who wrote it, which is scaled to 0",
			actor.Actor{Life: actor.Dead, Who: "buckets", Found: true, Scaled: scaled}, "", ""},
	} {
		o := object("Pod", true, "h")
		v := Assess(o, named(o, []string{"h"})[0], []string{"h"}, c.actor, Details{})
		var codes, says []string
		for _, r := range v.Against(Overrides{}) {
			codes, says = append(codes, string(r.Code)), append(says, r.Because)
		}
		if got := strings.Join(codes, " "); got != c.want || strings.Join(says, "; ") != c.says {
			t.Errorf("%s: %q: %q, want %q: %q", c.name, got, says, c.want, c.says)
		}
		if left := v.Against(Overrides{Force: true}); len(left) > 0 {
			t.Errorf("%s: %v in spite of --force", c.name, left)
		}
		if left := v.Against(Overrides{Asked: true}); len(left) > 0 {
			t.Errorf("%s: %v in spite of an answer", c.name, left)
		}
	}
	o := object("Namespace", true, "h:kubernetes x")
	for name, want := range map[string]int{"kubernetes": 0, "x": 1} {
		v := Assess(o, named(o, []string{name})[0], []string{name}, actor.Actor{Life: actor.Unknown},
			Details{Empty: &Emptiness{}})
		if got := len(v.Refusals); got != want {
			t.Errorf("%s in the spec of a namespace: %v, want %d", name, v.Refusals, want)
		}
	}
}

// TestAnAnswerDoesNotDestroy: what is known to be lost, or alive, takes the flag.
func TestAnAnswerDoesNotDestroy(t *testing.T) {
	for _, c := range []actor.Actor{
		{Life: actor.Alive, Found: true, IsKnown: true, Known: finalizer.Known{Risk: finalizer.LeaksExternal}},
		{Life: actor.Unknown, IsKnown: true, Known: finalizer.Known{Risk: finalizer.DataLoss}},
		{Life: actor.Dead, Found: true, IsKnown: true, Known: finalizer.Known{Risk: finalizer.BreaksCluster}},
	} {
		o := object("Pod", true, "h")
		if v := Assess(o, named(o, []string{"h"})[0], []string{"h"}, c,
			Details{}); len(v.Against(Overrides{Asked: true})) == 0 {
			t.Errorf("%s, %s: nothing speaks against it but an answer", c.Life, c.Known.Risk)
		}
	}
}
