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
		Origin: v1alpha1.Origin{ClusterRef: &v1alpha1.ClusterRef{Context: "prod\"", UID: "k", Server: "https://x"}},
		Stuck: []v1alpha1.Stuck{
			stuck("acme.cert-manager.io/v1", "Challenge", "shop", time.Minute, "FinalizerActorDead", "Other"),
			stuck("acme.cert-manager.io/v1", "Challenge", "shop", 2*time.Hour, "FinalizerActorDead"),
			stuck("v1", "Namespace", "", time.Hour, "FinalizerActorDead"),
			stuck("v1", "Pod", "x\"\\\n", time.Second), alive,
		},
		Gaps: []v1alpha1.Gap{{Resource: "secrets"}}, NotLookedAt: 3,
	}
}

// TestMetricsCountStuckObjects by cluster, code, kind and namespace, with the age of the oldest; no
// object is named.
func TestMetricsCountStuckObjects(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := render.DiagnosisMetrics(&out, stuckDiagnosis(), measured); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`stuck_objects{CLUSTER,code="FinalizerActorDead",group="acme.cert-manager.io",kind="Challenge",namespace="shop"} 2`,
		`oldest_age_seconds{CLUSTER,code="FinalizerActorDead",group="acme.cert-manager.io",kind="Challenge",namespace="shop"} 7200`,
		`stuck_objects{CLUSTER,code="FinalizerActorDead",group="",kind="Namespace",namespace=""} 1`,
		`oldest_age_seconds{CLUSTER,code="FinalizerActorDead",group="",kind="Namespace",namespace=""} 3600`,
		"not_examined_objects{CLUSTER} 3", "gaps{CLUSTER} 1", "complete{CLUSTER} 0",
		"last_run_timestamp_seconds{CLUSTER} 1767323045",
	} {
		want = "\nkubectl_gc_why_" + strings.Replace(want, "CLUSTER", `cluster="prod\"",cluster_uid="k"`, 1) + "\n"
		if !strings.Contains(out.String(), want) {
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
