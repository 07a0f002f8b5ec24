package render_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// widget is one that is stuck for some minutes, for a finalizer whose actor is dead.
func widget(name string, minutes int) v1alpha1.Stuck {
	ref := v1alpha1.ObjectRef{APIVersion: "example.com/v1", Kind: "Widget", Resource: "widgets", Namespace: "shop", Name: name, UID: name}
	since := metav1.NewTime(noon.Add(-time.Duration(minutes) * time.Minute))
	return v1alpha1.Stuck{Object: ref, Since: &since, Causes: []v1alpha1.Cause{{
		Code: "FinalizerActorDead", Object: ref, Finalizer: "example.com/bucket", Actor: "the Widget operator",
		Evidence: []string{"Deployment widgets/operator is scaled to 0"}, Remedy: "Start it again.",
		Commands: []string{"kubectl gc unfinalize widgets.example.com/" + name + " -n shop --finalizer example.com/bucket"},
	}}}
}

func diagnosis(t *testing.T, width int, wide bool, stuck ...v1alpha1.Stuck) string {
	t.Helper()
	var out bytes.Buffer
	if err := render.Diagnosis(&out, &v1alpha1.Diagnosis{Stuck: stuck}, noon, render.Style{Width: width, Wide: wide}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestDiagnosisGroupsByCause: what differs in nothing but the name is told once, with one command for all that are not named.
func TestDiagnosisGroupsByCause(t *testing.T) {
	var stuck []v1alpha1.Stuck
	for i := range 5 {
		stuck = append(stuck, widget(fmt.Sprintf("w%d", i), 10+i))
	}
	namespace := v1alpha1.Stuck{Object: v1alpha1.ObjectRef{APIVersion: "v1", Kind: "Namespace", Resource: "namespaces", Name: "shop", UID: "n"}, Since: stuck[0].Since, Causes: stuck[0].Causes}
	want := `FinalizerActorDead
  in        widget/w0 in shop (10m), widget/w1 in shop (11m), widget/w2 in shop (12m) and 2 more
  finalizer example.com/bucket of the Widget operator
  holds     namespace/shop (10m)
  because   Deployment widgets/operator is scaled to 0
  remedy    Start it again.
              kubectl gc unfinalize widgets.example.com/w0 -n shop --finalizer example.com/bucket
              kubectl gc unfinalize widgets.example.com/w1 -n shop --finalizer example.com/bucket
              kubectl gc unfinalize widgets.example.com/w2 -n shop --finalizer example.com/bucket
            and the same for 2 more; all at once: kubectl gc unfinalize --all-stuck -n shop --finalizer example.com/bucket

6 objects are being deleted and still there, for 1 cause
`
	if diff := cmp.Diff(want, diagnosis(t, 0, false, append(stuck, namespace)...)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if wide := diagnosis(t, 0, true, stuck...); strings.Contains(wide, "more") || !strings.Contains(wide, "widgets.example.com/w4 ") {
		t.Errorf("the wide one does not name all:\n%s", wide)
	}
}

// TestDiagnosisNamesWhatCouldNotBeListed, whether or not something is stuck: each type once, the first few of many unless all are wanted.
func TestDiagnosisNamesWhatCouldNotBeListed(t *testing.T) {
	gaps := []v1alpha1.Gap{{Resource: "*"}, {Resource: "*", Group: "example.com"}, {Resource: "secrets", Namespace: "a"}, {Resource: "secrets", Namespace: "b"}}
	for name, test := range map[string]struct {
		d    v1alpha1.Diagnosis
		wide bool
		want string
	}{
		"nothing is stuck": {v1alpha1.Diagnosis{Gaps: gaps}, false, "nothing is stuck among what could be listed\n" +
			"incomplete: the core group, group example.com, secrets could not be listed; what is stuck there, or holds something else up, is not shown\n"},
		"something is stuck": {v1alpha1.Diagnosis{Stuck: []v1alpha1.Stuck{widget("w", 1)}, Gaps: append(slices.Clip(gaps), v1alpha1.Gap{Resource: "leases", Group: "coordination.k8s.io"})}, false,
			"1 object is being deleted and still there, for 1 cause\n" +
				"incomplete: the core group, group example.com, secrets and 1 more could not be listed; what is stuck there, or holds something else up, is not shown\n"},
		"wide": {v1alpha1.Diagnosis{Gaps: append(slices.Clip(gaps), v1alpha1.Gap{Resource: "leases", Group: "coordination.k8s.io"})}, true, "nothing is stuck among what could be listed\n" +
			"incomplete: the core group, group example.com, secrets, leases.coordination.k8s.io could not be listed; what is stuck there, or holds something else up, is not shown\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := render.Diagnosis(&out, &test.d, noon, render.Style{Wide: test.wide}); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(out.String(), test.want) {
				t.Errorf("got\n%s\nwant it to end with\n%s", &out, test.want)
			}
		})
	}
}

// TestDiagnosisWraps: on a terminal text is wrapped, and commands are not: they are there to be copied.
func TestDiagnosisWraps(t *testing.T) {
	s := widget("w", 1)
	s.Causes[0].Remedy = strings.Repeat("word ", 30)
	for line := range strings.Lines(diagnosis(t, 60, false, s)) {
		if len(strings.TrimSuffix(line, "\n")) > 60 && !strings.Contains(line, "kubectl gc") {
			t.Errorf("%q is too long", line)
		}
	}
}

// TestDiagnosisEscapes: nothing that an object supplies operates a terminal.
func TestDiagnosisEscapes(t *testing.T) {
	const evil = "\x1b[2J\u202e"
	s := widget("w"+evil, 1)
	c := &s.Causes[0]
	c.Finalizer, c.Actor, c.Remedy, c.Evidence = evil, evil, evil, []string{evil}
	c.Via = []v1alpha1.ObjectRef{{Kind: evil, Name: evil, Namespace: evil}}
	unexplained := widget(evil, 1)
	unexplained.Causes, unexplained.Checked = nil, []string{evil}
	if out := diagnosis(t, 80, false, s, unexplained); strings.ContainsAny(out, "\x1b\u202e") {
		t.Errorf("it is printed as it is: %q", out)
	}
}
