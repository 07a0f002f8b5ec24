package archive

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// TestPlanIsWrittenAsItIsPrinted: the pieces make what the printer of -o yaml would write, for a
// plan with something and with nothing in it.
func TestPlanIsWrittenAsItIsPrinted(t *testing.T) {
	ref := v1alpha1.ObjectRef{APIVersion: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespace: "yes", Name: "0x1",
		UID: "1e3"}
	text := "- a: b\n---\n" + strings.Repeat("long words ", 20)
	full := &v1alpha1.Plan{
		TypeMeta: v1alpha1.TypeMeta("Plan"), Policy: "Background", Roots: []v1alpha1.ObjectRef{ref, ref}, Complete: true,
		DependsOnTiming: true,
		Gaps:            []v1alpha1.Gap{{Resource: "secrets", Reason: v1alpha1.GapForbidden, Message: text}},
		Actions: []v1alpha1.Action{{Verb: "delete", Object: ref, Wave: 1, Owners: []string{"u1", "u2"},
			Because: text}, {Verb: "orphan"}},
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
		whole := &v1alpha1.Plan{}
		if err := yaml.Unmarshal(want, whole); err != nil {
			t.Fatal(err)
		}
		pieces, ok := cutPlan(want)
		if !ok {
			t.Fatalf("it was not cut:\n%s", want)
		}
		read, err := readPieces(pieces)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole, read, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("read in pieces (-want +got):\n%s", diff)
		}
	}
}

// TestAPlanIsReadHoweverItIsLaidOut: as JSON, with lists that are indented or on one line, with
// anchors; and more entries than are decoded at once.
func TestAPlanIsReadHoweverItIsLaidOut(t *testing.T) {
	t.Parallel()
	begin := "apiVersion: gc.kubectl.dev/v1alpha1\nkind: Plan\n"
	for name, content := range map[string]string{
		"JSON":          `{"apiVersion": "gc.kubectl.dev/v1alpha1", "kind": "Plan", "deleted": [{"name": "a"}, {"name": "b"}]}`,
		"indented":      begin + "deleted:\n  - name: a\n  - name: b\n",
		"on one line":   begin + "deleted: [{name: a}, {name: b}]\n",
		"on two lines":  begin + "deleted:\n  [{name: a},\n  {name: b}]\n",
		"with an alias": begin + "roots:\n- &a {name: a}\ndeleted:\n- *a\n- name: b\n",
		"with comments": begin + "# they go\ndeleted:\n# first\n- name: a # and last\n\n- name: b\n#\n",
		"a nested list": begin + "deleted:\n- name: a\n- name: b\nblockers:\n- finalizers:\n  - x\n  object: {name: a}\n",
	} {
		p, err := readPlan([]byte(content))
		if err != nil || len(p.Deleted) != 2 || p.Deleted[0].Name != "a" || p.Deleted[1].Name != "b" || p.Kind != "Plan" {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	for _, content := range []string{"deleted:\n- name: [\n", "deleted:\n- name: a\n- *a\n", "roots: 7\n"} {
		if p, err := readPlan([]byte(begin + content)); err == nil {
			t.Errorf("%q: %+v", content, p)
		}
	}
	long := &v1alpha1.Plan{TypeMeta: v1alpha1.TypeMeta("Plan")}
	for i := range 2*entriesAtOnce + 1 {
		long.Deleted = append(long.Deleted, v1alpha1.ObjectRef{Name: strconv.Itoa(i)})
	}
	var text bytes.Buffer
	if err := writePlan(&text, long); err != nil {
		t.Fatal(err)
	}
	read, err := readPlan(text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(long.Deleted, read.Deleted); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
