package protect_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/protect"
)

// stored is a policy as a server returns it.
func stored(t *testing.T, p protect.Policy) *unstructured.Unstructured {
	t.Helper()
	text, err := json.Marshal(p.Manifests()[0])
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal(text, &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestWhatIsReadOfAPolicyIsWhatWasWritten: of random policies, whatever their users are called.
func TestWhatIsReadOfAPolicyIsWhatWasWritten(t *testing.T) {
	t.Parallel()
	users := []string{"alice", "o'brien", `a "quoted" ] name`, "<b>&amp;", "Zoë", `back\slash`, "line\nbreak", "oldObject.metadata.uid in [\"x\"]"}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		uid := func(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", i) }
		p := protect.Policy{Object: graph.Ref{APIVersion: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespace: "n",
			Name: fmt.Sprint("c", seed), UID: uid(0)}}
		p.Guards = append(p.Guards, protect.Guard{Ref: p.Object, Orphan: true})
		for i := range rng.IntN(5) {
			p.Guards = append(p.Guards, protect.Guard{Ref: graph.Ref{APIVersion: "v1", Kind: "Secret", Resource: "secrets",
				Namespace: "n", UID: uid(i + 1)}, Orphan: rng.IntN(2) == 0})
		}
		for range rng.IntN(3) {
			p.Except = append(p.Except, users[rng.IntN(len(users))])
		}
		got, ok := protect.Read(stored(t, p))
		if !ok || got.UID != p.Object.UID || got.Policy != p.Name() || got.Protects != p.Object.Located() {
			t.Fatalf("seed %d: read %+v (%t) of %s", seed, got, ok, p.Name())
		}
		for _, g := range p.Guards {
			if !got.Denies(g.UID, false) || got.Denies(g.UID, true) != g.Orphan {
				t.Errorf("seed %d: of %s, which is denied with the policy Orphan: %t, it read %t and %t", seed, g.UID, g.Orphan,
					got.Denies(g.UID, false), got.Denies(g.UID, true))
			}
		}
		if got.Denies(uid(9), false) {
			t.Errorf("seed %d: it denies an object that is no guard", seed)
		}
		for _, user := range users {
			if want := strings.Contains("\x00"+strings.Join(p.Except, "\x00")+"\x00", "\x00"+user+"\x00"); got.Excepts(user) != want {
				t.Errorf("seed %d: excepts %q: %t, want %t", seed, user, !want, want)
			}
		}
	}
}

// TestAPolicyThatSomebodyChangedIsNotRead: nothing is said of what it denies.
func TestAPolicyThatSomebodyChangedIsNotRead(t *testing.T) {
	t.Parallel()
	p := protect.Policy{Object: graph.Ref{APIVersion: "v1", Kind: "ConfigMap", Resource: "configmaps", Name: "c", UID: "u"}}
	p.Guards = []protect.Guard{{Ref: p.Object, Orphan: true}}
	validations := func(o *unstructured.Unstructured) map[string]any {
		return o.Object["spec"].(map[string]any)["validations"].([]any)[0].(map[string]any)
	}
	for change, of := range map[string]func(*unstructured.Unstructured){
		"the annotation":      func(o *unstructured.Unstructured) { o.SetAnnotations(nil) },
		"the whole":           func(o *unstructured.Unstructured) { validations(o)["expression"] = "false" },
		"the list of objects": func(o *unstructured.Unstructured) { edit(validations(o), `["u"]`, `variables.uids`) },
		"the list of users": func(o *unstructured.Unstructured) {
			edit(validations(o), `username in [`, `username in params.users + [`)
		},
		"a condition": func(o *unstructured.Unstructured) { edit(validations(o), "oldObject == null", "has(oldObject.spec)") },
		"one more condition": func(o *unstructured.Unstructured) {
			edit(validations(o), "oldObject == null", "oldObject == null || true")
		},
		"a matchCondition": func(o *unstructured.Unstructured) {
			o.Object["spec"].(map[string]any)["matchConditions"] = []any{map[string]any{"name": "never", "expression": "false"}}
		},
		"the validations": func(o *unstructured.Unstructured) { delete(o.Object["spec"].(map[string]any), "validations") },
	} {
		o := stored(t, p)
		if _, ok := protect.Read(o); !ok {
			t.Fatal("the policy itself is not read")
		}
		of(o)
		if got, ok := protect.Read(o); ok {
			t.Errorf("with %s changed, it read %+v", change, got)
		}
	}
}

// TestAMessageIsOneLine: a ClusterRole can have any name, and a server takes no policy whose message
// has a line break.
func TestAMessageIsOneLine(t *testing.T) {
	t.Parallel()
	p := protect.Policy{Object: graph.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "a\nb\rc", UID: "u"}}
	p.Guards = []protect.Guard{{Ref: p.Object, Orphan: true}}
	validation := stored(t, p).Object["spec"].(map[string]any)["validations"].([]any)[0].(map[string]any)
	if message := validation["message"].(string); strings.ContainsAny(message, "\n\r") {
		t.Errorf("%q", message)
	}
}

func edit(validation map[string]any, old, with string) {
	validation["expression"] = strings.Replace(validation["expression"].(string), old, with, 1)
}
