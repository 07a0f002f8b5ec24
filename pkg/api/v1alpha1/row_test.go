package v1alpha1

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRows: each cause, finding, action and gap is a row with all keys, after one of the cluster, and
// each has the cluster.
func TestRows(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	in := ClusterRef{UID: "k", Context: "prod", Server: "https://x", ObservedAt: at}
	web := ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Resource: "deployments", Namespace: "shop", Name: "web", UID: "u"}
	pod := ObjectRef{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespace: "shop", Name: "p", UID: "v"}
	gaps := []Gap{{Resource: "secrets", Reason: GapForbidden, Message: "no"}}
	for name, test := range map[string]struct {
		of   any
		want []string // row, code, name, cause
	}{
		"a diagnosis": {&Diagnosis{TypeMeta: TypeMeta("Diagnosis"), Gaps: gaps, Stuck: []Stuck{{Object: web, Since: &at, Causes: []Cause{
			{Code: "A", Object: pod, Evidence: []string{"x", "y"}, Commands: []string{"c", "d"}}, {Code: "B", Object: web}}},
			{Object: pod, Finalizers: []string{"f", "g"}}}},
			[]string{"cluster///", "cause/A/web/p", "cause/B/web/web", "cause//p/", "gap/Forbidden//"}},
		"a report": {&CheckReport{TypeMeta: TypeMeta("CheckReport"), Complete: true, Findings: []CheckFinding{{Object: pod, Code: "OwnerAbsent",
			OwnerReference: &metav1.OwnerReference{Kind: "Deployment", Name: "gone", UID: "w"}}, {Object: web, Code: "C"}}},
			[]string{"cluster///", "finding/OwnerAbsent/p/gone", "finding/C/web/"}},
		"a plan": {&Plan{TypeMeta: TypeMeta("Plan"), Complete: true, Actions: []Action{{Verb: "delete", Object: web, Reason: "Requested"}},
			Survivors: []Survivor{{Object: pod, Reason: "NotPruned"}}, Findings: []PlanFinding{{Code: "D"}, {Code: "E", Objects: []ObjectRef{web, pod}}}},
			[]string{"cluster///", "action/Requested/web/", "survivor/NotPruned/p/", "finding/D//", "finding/E/web/", "finding/E/p/"}},
	} {
		rows, has := Rows(test.of, in)
		var got []string
		for _, r := range rows {
			got = append(got, r.Row+"/"+r.Code+"/"+r.Name+"/"+r.CauseName)
			var keys map[string]any
			text, _ := json.Marshal(r)
			if err := json.Unmarshal(text, &keys); err != nil || len(keys) != reflect.TypeFor[Row]().NumField() {
				t.Errorf("%s: %d keys, %v", name, len(keys), err)
			}
			if r.Cluster != "prod" || r.ClusterUID != "k" || r.Server != "https://x" || !r.ObservedAt.Equal(&at) || r.APIVersion == "" {
				t.Errorf("%s: row of another cluster: %+v", name, r)
			}
		}
		if !has || !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if rows[0].Count != len(rows)-1-len(slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Row != "gap" })) {
			t.Errorf("%s: count %d of %d rows", name, rows[0].Count, len(rows))
		}
	}
	if _, has := Rows(&Tree{}, in); has {
		t.Error("a tree has rows")
	}
}
