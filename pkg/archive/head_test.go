package archive

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// TestPlanIsWrittenAsItIsPrinted: the pieces make what the printer of -o yaml would write, for a plan with something and with nothing in it.
func TestPlanIsWrittenAsItIsPrinted(t *testing.T) {
	ref := v1alpha1.ObjectRef{APIVersion: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespace: "yes", Name: "0x1", UID: "1e3"}
	text := "- a: b\n---\n" + strings.Repeat("long words ", 20)
	full := &v1alpha1.Plan{
		TypeMeta: v1alpha1.TypeMeta("Plan"), Policy: "Background", Roots: []v1alpha1.ObjectRef{ref, ref}, Complete: true, DependsOnTiming: true,
		Gaps:      []v1alpha1.Gap{{Resource: "secrets", Reason: v1alpha1.GapForbidden, Message: text}},
		Actions:   []v1alpha1.Action{{Verb: "delete", Object: ref, Wave: 1, Owners: []string{"u1", "u2"}, Because: text}, {Verb: "orphan"}},
		Deleted:   []v1alpha1.ObjectRef{ref},
		Survivors: []v1alpha1.Survivor{{Object: ref, Because: text}},
		Blockers:  []v1alpha1.Blocker{{Object: ref, Finalizers: []string{"example.com/a", "- b"}}, {Finalizers: []string{}}},
		Stuck:     []v1alpha1.Survivor{},
	}
	for _, plan := range []*v1alpha1.Plan{full, head(), {}} {
		want, err := yaml.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := writePlan(&got, plan); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
