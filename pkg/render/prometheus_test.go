package render_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

var measured = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// stuckDiagnosis has two objects of a kind that are stuck, one of another, one without a cause, and
// one that is not being deleted.
func stuckDiagnosis() *v1alpha1.Diagnosis {
	stuck := func(apiVersion, kind, namespace string, ago time.Duration, codes ...string) v1alpha1.Stuck {
		s := v1alpha1.Stuck{Object: v1alpha1.ObjectRef{APIVersion: apiVersion, Kind: kind, Namespace: namespace,
			Name: "secret-name"}, Since: &metav1.Time{Time: measured.Add(-ago)}}
		for _, code := range codes {
			s.Causes = append(s.Causes, v1alpha1.Cause{Code: code})
		}
		return s
	}
	alive := stuck("v1", "Pod", "shop", 0, "NotDeleting")
	alive.Since = nil
	return &v1alpha1.Diagnosis{
		Stuck: []v1alpha1.Stuck{
			stuck("acme.cert-manager.io/v1", "Challenge", "shop", time.Minute, "FinalizerActorDead", "Other"),
			stuck("acme.cert-manager.io/v1", "Challenge", "shop", 2*time.Hour, "FinalizerActorDead"),
			stuck("v1", "Namespace", "", time.Hour, "FinalizerActorDead"),
			stuck("v1", "Pod", "x\"\\\n", time.Second), alive,
		},
		Gaps: []v1alpha1.Gap{{Resource: "secrets"}}, NotLookedAt: 3,
	}
}

// TestMetricsCountStuckObjects by code, kind and namespace, with the age of the oldest; no object
// is named.
func TestMetricsCountStuckObjects(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := render.DiagnosisMetrics(&out, stuckDiagnosis(), measured); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`kubectl_gc_why_stuck_objects{code="FinalizerActorDead",group="acme.cert-manager.io",kind="Challenge",namespace="shop"} 2`,
		`kubectl_gc_why_oldest_age_seconds{code="FinalizerActorDead",group="acme.cert-manager.io",kind="Challenge",namespace="shop"} 7200`,
		`kubectl_gc_why_stuck_objects{code="FinalizerActorDead",group="",kind="Namespace",namespace=""} 1`,
		`kubectl_gc_why_oldest_age_seconds{code="FinalizerActorDead",group="",kind="Namespace",namespace=""} 3600`,
		"kubectl_gc_why_not_examined_objects 3", "kubectl_gc_why_gaps 1", "kubectl_gc_why_complete 0",
		"kubectl_gc_why_last_run_timestamp_seconds 1767323045",
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
	if n := strings.Count(out.String(), "stuck_objects{"); n != 3 || strings.Contains(out.String(), "secret-name") ||
		!strings.Contains(out.String(), `code="Unexplained"`) {
		t.Errorf("%d series of stuck objects, want 3, one of them Unexplained and none with the name of an object:\n%s", n,
			out.String())
	}
}

// TestMetricsAreOpenMetrics: each family is described once, its series follow it and differ, labels
// are escaped, and the end is marked.
func TestMetricsAreOpenMetrics(t *testing.T) {
	t.Parallel()
	checked := hostileReport()
	checked.Findings = append(checked.Findings, checked.Findings...)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"why":          func(b *bytes.Buffer) error { return render.DiagnosisMetrics(b, stuckDiagnosis(), measured) },
		"why, nothing": func(b *bytes.Buffer) error { return render.DiagnosisMetrics(b, &v1alpha1.Diagnosis{}, measured) },
		"check":        func(b *bytes.Buffer) error { return render.CheckMetrics(b, checked, measured) },
		"check, a finding": func(b *bytes.Buffer) error {
			return render.CheckMetrics(
				b, &v1alpha1.CheckReport{Findings: []v1alpha1.CheckFinding{{Code: string(check.OwnerAbsent)}}}, measured)
		},
		"check, no finding": func(b *bytes.Buffer) error { return render.CheckMetrics(b, &v1alpha1.CheckReport{}, measured) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		if problem := openMetrics(out.String()); problem != "" {
			t.Errorf("%s: %s in\n%s", name, problem, out.String())
		}
	}
}

var (
	helpLine   = regexp.MustCompile(`^# HELP ([a-z_:][a-z0-9_:]*) [^\\]+$`)
	typeLine   = regexp.MustCompile(`^# TYPE ([a-z_:][a-z0-9_:]*) gauge$`)
	sampleLine = regexp.MustCompile(
		`^([a-z_:][a-z0-9_:]*)((?:\{[a-z_]+="(?:[^"\\\n]|\\[\\n"])*"(?:,[a-z_]+="(?:[^"\\\n]|\\[\\n"])*")*\})?) [0-9]+$`)
)

// openMetrics says what is wrong with gauges in OpenMetrics' text format, empty if nothing is.
func openMetrics(text string) string {
	body, marked := strings.CutSuffix(text, "# EOF\n")
	if !marked {
		return "the end is not marked"
	}
	family, described := "", map[string]bool{}
	series := map[string]bool{}
	helped := ""
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		if m := helpLine.FindStringSubmatch(line); m != nil {
			if described[m[1]] {
				return m[1] + " is described twice"
			}
			described[m[1]], helped = true, m[1]
			continue
		}
		if m := typeLine.FindStringSubmatch(line); m != nil {
			if m[1] != helped {
				return line + " does not follow its help"
			}
			family = m[1]
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		switch {
		case m == nil:
			return "not a sample: " + line
		case m[1] != family:
			return m[1] + " is a sample in the family " + family
		case series[m[1]+m[2]]:
			return m[1] + m[2] + " is there twice"
		}
		series[m[1]+m[2]] = true
	}
	return ""
}
