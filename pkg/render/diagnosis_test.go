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
	ref := v1alpha1.ObjectRef{APIVersion: "example.com/v1", Kind: "Widget", Resource: "widgets", Namespace: "shop",
		Name: name, UID: name}
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
	if err := render.Diagnosis(&out, &v1alpha1.Diagnosis{Stuck: stuck}, noon,
		render.Style{Width: width, Wide: wide}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestDiagnosisGroupsByCause: what differs in nothing but the name is told once, with one command
// for all that are not named.
func TestDiagnosisGroupsByCause(t *testing.T) {
	var stuck []v1alpha1.Stuck
	for i := range 5 {
		stuck = append(stuck, widget(fmt.Sprintf("w%d", i), 10+i))
	}
	namespace := v1alpha1.Stuck{Object: v1alpha1.ObjectRef{APIVersion: "v1", Kind: "Namespace", Resource: "namespaces",
		Name: "shop", UID: "n"}, Since: stuck[0].Since, Causes: stuck[0].Causes}
	want := `widget/w0 in shop and 4 more are stuck: Deployment widgets/operator is scaled to 0 (FinalizerActorDead)
  stuck     widget/w0 in shop (10m), widget/w1 in shop (11m), widget/w2 in shop (12m) and 2 more
  waiting   namespace/shop (10m)
  finalizer example.com/bucket of the Widget operator
  evidence  Deployment widgets/operator is scaled to 0
  remedy    Start it again.
            1. kubectl gc unfinalize widgets.example.com/w0 -n shop --finalizer example.com/bucket
               kubectl gc unfinalize widgets.example.com/w1 -n shop --finalizer example.com/bucket
               kubectl gc unfinalize widgets.example.com/w2 -n shop --finalizer example.com/bucket
               and the same for 2 more; all at once: kubectl gc unfinalize widgets.example.com --all-stuck -n shop --finalizer example.com/bucket

6 objects are stuck in deletion, for 1 cause
`
	if diff := cmp.Diff(want, diagnosis(t, 0, false, append(stuck, namespace)...)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if wide := diagnosis(t, 0, true, stuck...); strings.Contains(wide, "the same for") ||
		!strings.Contains(wide, "widgets.example.com/w4 ") {
		t.Errorf("the wide one does not name all:\n%s", wide)
	}
}

// TestTheCommandForManyReachesNoMore: it names the type and the namespace that the others are in,
// and is left out where it would have to be forced, or would reach another namespace.
func TestTheCommandForManyReachesNoMore(t *testing.T) {
	const hostile = "example.com/x;touch hacked"
	of := func(change func(*v1alpha1.Cause)) string {
		var stuck []v1alpha1.Stuck
		for i := range 5 {
			s := widget(fmt.Sprintf("w%d", i), 10)
			change(&s.Causes[0])
			stuck = append(stuck, s)
		}
		return diagnosis(t, 0, false, stuck...)
	}
	n := 0
	for name, test := range map[string]struct {
		change func(*v1alpha1.Cause)
		want   string
	}{
		"cluster-scoped": {func(c *v1alpha1.Cause) { c.Object.Namespace = "" },
			"all at once: kubectl gc unfinalize widgets.example.com --all-stuck -A --finalizer example.com/bucket\n"},
		"hostile": {func(c *v1alpha1.Cause) { c.Finalizer = hostile },
			"all at once: kubectl gc unfinalize widgets.example.com --all-stuck -n shop --finalizer '" + hostile + "'\n"},
		"forced": {func(c *v1alpha1.Cause) { c.Commands[0] += " --force" }, "and the same for 2 more; -o wide writes all\n"},
		"in several namespaces": {func(c *v1alpha1.Cause) {
			n++
			c.Object.Namespace = fmt.Sprintf("shop%d", n)
		}, "and the same for 2 more; -o wide writes all\n"},
	} {
		if got := of(test.change); !strings.Contains(got, test.want) {
			t.Errorf("%s: want %q in\n%s", name, test.want, got)
		}
	}
}

// TestDiagnosisSaysThatNothingIsStuck where deletions go on.
func TestDiagnosisSaysThatNothingIsStuck(t *testing.T) {
	goesOn := widget("a", 1)
	goesOn.Causes[0].Code, goesOn.Causes[0].Finalizer = "InProgress", ""
	if got := diagnosis(t, 0, false, goesOn); !strings.HasSuffix(got, "\n1 object is being deleted; nothing is stuck\n") {
		t.Error(got)
	}
	if got := diagnosis(t, 0, false, goesOn, widget("b", 1)); !strings.HasSuffix(got,
		"\n1 object is stuck in deletion, for 1 cause; 1 other deletion in progress\n") {
		t.Error(got)
	}
	young, pod := widget("c", 0), widget("d", -1) // whose grace period ends in a minute
	young.Causes[0].Code, pod.Causes[0].Code = "InProgress", "PodTerminating"
	if got := diagnosis(t, 0, false, young); !strings.HasSuffix(got,
		"\n1 object is being deleted, for less than a minute: whether anything is stuck cannot be told yet\n") {
		t.Error(got)
	}
	if got := diagnosis(t, 0, false, goesOn, young); !strings.HasSuffix(got,
		"\n2 objects are being deleted, 1 for less than a minute: whether anything is stuck cannot be told yet\n") {
		t.Error(got)
	}
	then := widget("e", 0)
	later := then.Causes[0]
	later.After, then.Causes[0].Code = 1, "InProgress"
	then.Causes = append(then.Causes, later)
	if got := diagnosis(t, 0, false, then); !strings.HasSuffix(got,
		"\n1 object is being deleted, for less than a minute: whether anything is stuck cannot be told yet; then 1 cause to come\n") {
		t.Error(got)
	}
	if got := diagnosis(t, 0, false, pod); !strings.HasSuffix(got, "\n1 object is being deleted; nothing is stuck\n") {
		t.Error(got)
	}
}

// TestDiagnosisSaysHowManyWereNotLookedAt, of which what is said was seen at others.
func TestDiagnosisSaysHowManyWereNotLookedAt(t *testing.T) {
	var out bytes.Buffer
	if err := render.Diagnosis(&out, &v1alpha1.Diagnosis{Stuck: []v1alpha1.Stuck{widget("a", 1)}, NotLookedAt: 7}, noon,
		render.Style{}); err != nil {
		t.Fatal(err)
	}
	if want := "\n7 objects not examined: "; !strings.Contains(out.String(), want) {
		t.Errorf("got\n%s\nwant it to contain %q", &out, want)
	}
}

// TestDiagnosisSaysWhatComesUpNext: a cause behind another is marked, unless it is the first of
// some object.
func TestDiagnosisSaysWhatComesUpNext(t *testing.T) {
	s := widget("a", 1)
	later := s.Causes[0]
	later.Code, later.After = "AdmissionDenied", 1
	s.Causes = append(s.Causes, later)
	if got := diagnosis(t, 0, false, s); !strings.Contains(got, "\n\nthen: widget/a in shop is stuck: Deployment widgets/operator is scaled to 0 (AdmissionDenied)\n") ||
		!strings.Contains(got, "\n\nwidget/a in shop is stuck: Deployment widgets/operator is scaled to 0 (FinalizerActorDead)\n") {
		t.Error(got)
	}
	now := widget("b", 1)
	now.Causes[0].Code = "AdmissionDenied"
	if got := diagnosis(t, 0, false, s, now); strings.Contains(got, "then:") {
		t.Error(got)
	}
}

// TestDiagnosisTellsWhatWasSeenAtEachObject: what differs between objects that wait for one actor
// is told of each, and what does not once.
func TestDiagnosisTellsWhatWasSeenAtEachObject(t *testing.T) {
	var stuck []v1alpha1.Stuck
	for i, own := range []string{"its load balancer is a", "its load balancer is b", "its load balancer is a", ""} {
		s := widget(fmt.Sprintf("w%d", i), 1)
		if own != "" {
			s.Causes[0].Evidence = append(s.Causes[0].Evidence, own)
		}
		stuck = append(stuck, s)
	}
	want := `  evidence  Deployment widgets/operator is scaled to 0
            widget/w0 in shop, widget/w2 in shop: its load balancer is a
            widget/w1 in shop: its load balancer is b
  remedy `
	if got := diagnosis(t, 0, false, stuck...); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant it to contain\n%s", got, want)
	}
}

// TestDiagnosisNumbersTheSteps, with what each brings about and puts at risk, and says that data is
// destroyed before everything that is to be done.
func TestDiagnosisNumbersTheSteps(t *testing.T) {
	s := widget("w", 1)
	c := &s.Causes[0]
	c.Summary, c.Cost, c.DataLoss = "The Widget operator does not work.", "The bucket leaks.", true
	c.Steps = []v1alpha1.Step{
		{Command: "kubectl scale deployments.apps/operator -n widgets --replicas=1", Does: "starts it", Risk: "none"},
		{Command: "kubectl gc unfinalize widgets.example.com/w -n shop --force", Does: "removes the finalizer",
			Risk: "data-loss"},
		{Command: "kubectl delete bucket", Risk: "leaks-external"},
	}
	want := `widget/w in shop is stuck: The Widget operator does not work. (FinalizerActorDead)
  stuck     widget/w in shop (60s)
  finalizer example.com/bucket of the Widget operator
  evidence  Deployment widgets/operator is scaled to 0
  cost      Data are destroyed. The bucket leaks.
  remedy    Start it again.
            1. kubectl scale deployments.apps/operator -n widgets --replicas=1
               starts it
            2. kubectl gc unfinalize widgets.example.com/w -n shop --force
               removes the finalizer (risk: data is lost)
            3. kubectl delete bucket
               risk: something leaks
`
	if got := diagnosis(t, 0, false, s); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant it to contain\n%s", got, want)
	}
}

// TestDiagnosisSaysWhatIsStuckFirst: a cause that lies in an object that is not being deleted names
// what it keeps, then where it lies.
func TestDiagnosisSaysWhatIsStuckFirst(t *testing.T) {
	s := widget("w", 1)
	s.Causes[0].Object = v1alpha1.ObjectRef{APIVersion: "v1", Kind: "Node", Resource: "nodes", Name: "n1"}
	if got := diagnosis(t, 0, false, s); !strings.Contains(got,
		"  stuck     widget/w in shop (60s)\n  in        node/n1\n") {
		t.Error(got)
	}
}

// TestACauseOpensWithASentence: who is stuck, for what it waits and why, with the code behind; what
// is not stuck is not called so.
func TestACauseOpensWithASentence(t *testing.T) {
	t.Parallel()
	node := v1alpha1.ObjectRef{APIVersion: "v1", Kind: "Node", Resource: "nodes", Name: "n1"}
	for want, change := range map[string]func(*v1alpha1.Stuck, *v1alpha1.Cause){
		"widget/w in shop is stuck: The operator is down. (FinalizerActorDead)": func(*v1alpha1.Stuck, *v1alpha1.Cause) {},
		"widget/w in shop waits for node/n1: The operator is down. (FinalizerActorDead)": func(_ *v1alpha1.Stuck, c *v1alpha1.Cause) {
			c.Object = node
		},
		"widget/w in shop is being deleted: The operator is down. (InProgress)": func(_ *v1alpha1.Stuck, c *v1alpha1.Cause) {
			c.Code = "InProgress"
		},
		"widget/w in shop: The operator is down. (DeletionRejected)": func(s *v1alpha1.Stuck, c *v1alpha1.Cause) {
			s.Since, c.Code = nil, "DeletionRejected"
		},
		"widget/w in shop is not being deleted: the server would accept a DELETE (NotDeleting)": func(s *v1alpha1.Stuck, c *v1alpha1.Cause) {
			s.Since, c.Code, c.Evidence = nil, "NotDeleting", []string{"it has no deletionTimestamp", "the server would accept a DELETE"}
		},
		"widget/w in shop is stuck, and no cause was found.": func(s *v1alpha1.Stuck, _ *v1alpha1.Cause) { s.Causes = nil },
	} {
		s := widget("w", 1)
		s.Causes[0].Summary = "The operator is down."
		change(&s, &s.Causes[0])
		if got, _, _ := strings.Cut(diagnosis(t, 0, false, s), "\n"); got != want {
			t.Errorf("it opens with %q, want %q", got, want)
		}
		if all := diagnosis(t, 0, false, s); s.Since == nil && s.Causes[0].Code == "NotDeleting" && all != want+"\n" {
			t.Errorf("of a healthy object more is said than a line:\n%s", all)
		}
	}
}

// TestDiagnosisCountsWhatIsTooYoung: it is not said to be stuck, and not that nothing is.
func TestDiagnosisCountsWhatIsTooYoung(t *testing.T) {
	t.Parallel()
	const young = "2 objects are being deleted for less than --older-than, and not examined\n"
	gaps := []v1alpha1.Gap{{Resource: "secrets"}}
	for want, d := range map[string]v1alpha1.Diagnosis{
		young: {Younger: 2},
		"nothing is stuck in the types that could be listed; " + young: {Younger: 2, Gaps: gaps},
		"\n1 object is stuck in deletion, for 1 cause; " + young:       {Younger: 2, Stuck: []v1alpha1.Stuck{widget("w", 1)}},
	} {
		var out bytes.Buffer
		if err := render.Diagnosis(&out, &d, noon, render.Style{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) || len(d.Stuck) == 0 && !strings.HasPrefix(out.String(), want) {
			t.Errorf("got\n%s\nwant\n%s", &out, want)
		}
	}
}

// TestDiagnosisNamesWhatCouldNotBeListed, whether or not something is stuck: each type once, the
// first few of many unless all are wanted.
func TestDiagnosisNamesWhatCouldNotBeListed(t *testing.T) {
	gaps := []v1alpha1.Gap{{Resource: "*"}, {Resource: "*", Group: "example.com"}, {Resource: "secrets", Namespace: "a"},
		{Resource: "secrets", Namespace: "b"}}
	for name, test := range map[string]struct {
		d    v1alpha1.Diagnosis
		wide bool
		want string
	}{
		"in a namespace": {v1alpha1.Diagnosis{Gaps: []v1alpha1.Gap{{Resource: "secrets", Namespace: "shop"},
			{Resource: "pods", Namespace: "shop"}}}, true,
			"nothing is stuck in the types and namespaces that could be listed\n" +
				"incomplete: secrets, pods could not be listed in namespace shop; objects of these types that are stuck, or that block others, are not shown\n"},
		"in some namespaces": {v1alpha1.Diagnosis{Gaps: []v1alpha1.Gap{{Resource: "secrets", Namespace: "shop"},
			{Resource: "secrets", Namespace: "bank"}}}, true,
			"nothing is stuck in the types and namespaces that could be listed\n" +
				"incomplete: secrets could not be listed in some namespaces (shop, bank); objects of these types that are stuck, or that block others, are not shown\n"},
		"nothing is stuck": {v1alpha1.Diagnosis{Gaps: gaps}, false, "nothing is stuck in the types and namespaces that could be listed\n" +
			"incomplete: the core group, group example.com, secrets could not be listed; objects of these types that are stuck, or that block others, are not shown\n"},
		"something is stuck": {v1alpha1.Diagnosis{Stuck: []v1alpha1.Stuck{widget("w", 1)},
			Gaps: append(slices.Clip(gaps), v1alpha1.Gap{Resource: "leases", Group: "coordination.k8s.io"})}, false,
			"1 object is stuck in deletion, for 1 cause\n" +
				"incomplete: the core group, group example.com, secrets and 1 more could not be listed; objects of these types that are stuck, or that block others, are not shown\n"},
		"what only a cluster answers": {v1alpha1.Diagnosis{Gaps: []v1alpha1.Gap{
			{Resource: "admissionreviews", Group: "admission.k8s.io", Message: "only a cluster says that"}}}, false,
			"nothing is stuck in the types that could be listed\nincomplete: only a cluster says that\n"},
		"wide": {v1alpha1.Diagnosis{Gaps: append(slices.Clip(gaps),
			v1alpha1.Gap{Resource: "leases", Group: "coordination.k8s.io"})}, true,
			"nothing is stuck in the types and namespaces that could be listed\n" +
				"incomplete: the core group, group example.com, secrets, leases.coordination.k8s.io could not be listed; objects of these types that are stuck, or that block others, are not shown\n"},
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

// TestDiagnosisWraps: on a terminal text is wrapped, and commands are not: they are there to be
// copied.
func TestDiagnosisWraps(t *testing.T) {
	s := widget("w", 1)
	c := &s.Causes[0]
	text := strings.Repeat("word ", 60)
	c.Remedy, c.Summary, c.Cost, c.Evidence = text, text, text, []string{text}
	c.Steps = []v1alpha1.Step{{Command: c.Commands[0], Does: text}}
	for width, most := range map[int]int{60: 60, 100: 100, 250: 100} {
		for line := range strings.Lines(diagnosis(t, width, false, s)) {
			if len(strings.TrimSuffix(line, "\n")) > most && !strings.Contains(line, "kubectl gc") {
				t.Errorf("on %d columns %q is too long", width, line)
			}
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
	out := diagnosis(t, 80, false, s, unexplained)
	for _, c := range render.Causes(&v1alpha1.Diagnosis{Stuck: []v1alpha1.Stuck{s, unexplained}}, noon, render.Style{}) {
		out += c.Line(80) + c.Screen(80)
	}
	if strings.ContainsAny(out, "\x1b\u202e") {
		t.Errorf("it is printed as it is: %q", out)
	}
}

// TestTheSummaryCountsTheCausesOfWhatIsStuck: that another object is not being deleted, or that its
// deletion goes on, is none of them.
func TestTheSummaryCountsTheCausesOfWhatIsStuck(t *testing.T) {
	stuck, deleting := widget("stuck", 10), widget("deleting", 1)
	deleting.Causes = []v1alpha1.Cause{{Code: "InProgress", Object: deleting.Object}}
	live := v1alpha1.Stuck{Object: widget("live", 0).Object}
	live.Causes = []v1alpha1.Cause{{Code: "NotDeleting", Object: live.Object}}
	got := diagnosis(t, 0, false, stuck, deleting, live)
	if want := "\n1 object is stuck in deletion, for 1 cause; 1 other deletion in progress\n"; !strings.HasSuffix(
		got, want) {
		t.Errorf("%q does not end with %q", got, want)
	}
}
