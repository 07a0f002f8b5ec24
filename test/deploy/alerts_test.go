package deploy

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// rules is Prometheus' file of rules, as far as alerts use it.
type rules struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []struct {
			Alert       string            `json:"alert"`
			Expr        string            `json:"expr"`
			For         string            `json:"for"`
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"rules"`
	} `json:"groups"`
}

var (
	sample      = regexp.MustCompile(`(?m)^(kubectl_gc_\w+)(?:\{(.*)\})? \d+$`)
	labelName   = regexp.MustCompile(`(\w+)="`)
	metricName  = regexp.MustCompile(`kubectl_gc_\w+`)
	byLabels    = regexp.MustCompile(`by \(([^)]*)\)`)
	usedLabel   = regexp.MustCompile(`\$labels\.(\w+)`)
	alertName   = regexp.MustCompile(`^[A-Z][A-Za-z]+$`)
	known       = []string{"max", "sum", "by", "time", "or"}
	wordOfQuery = regexp.MustCompile(`[a-zA-Z_]\w*`)
)

// written returns the metrics that kubectl gc writes, with their labels.
func written(t *testing.T) map[string][]string {
	t.Helper()
	now := time.Now()
	ref := v1alpha1.ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web"}
	var out bytes.Buffer
	in := v1alpha1.Origin{ClusterRef: &v1alpha1.ClusterRef{Context: "prod", UID: "u"}}
	if err := render.DiagnosisMetrics(&out,
		&v1alpha1.Diagnosis{Origin: in, Stuck: []v1alpha1.Stuck{{Object: ref, Since: &metav1.Time{Time: now}}}}, now); err != nil {
		t.Fatal(err)
	}
	if err := render.CheckMetrics(&out,
		&v1alpha1.CheckReport{Origin: in, Findings: []v1alpha1.CheckFinding{{Object: ref, Code: "OwnerAbsent", Severity: "error"}}},
		now); err != nil {
		t.Fatal(err)
	}
	if err := render.ManyMetrics(&out, []render.ClusterMetrics{{Ref: *in.ClusterRef}}); err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, m := range sample.FindAllStringSubmatch(out.String(), -1) {
		all[m[1]] = []string{}
		for _, l := range labelName.FindAllStringSubmatch(m[2], -1) {
			all[m[1]] = append(all[m[1]], l[1])
		}
	}
	return all
}

// TestAlertsAreAboutMetricsThatAreWritten: each metric and label of an alert is one that kubectl gc
// writes, and its texts are templates that parse.
func TestAlertsAreAboutMetricsThatAreWritten(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/deploy/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file rules
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		t.Fatal(err)
	}
	metrics, alerts := written(t), 0
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			alerts++
			if !alertName.MatchString(rule.Alert) || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" {
				t.Errorf("alert %q has labels %v and annotations %v", rule.Alert, rule.Labels, rule.Annotations)
			}
			if _, err := time.ParseDuration(rule.For); err != nil {
				t.Errorf("%s: for: %v", rule.Alert, err)
			}
			if strings.Count(rule.Expr, "(") != strings.Count(rule.Expr, ")") ||
				strings.Count(rule.Expr, "{") != strings.Count(rule.Expr, "}") {
				t.Errorf("%s: a bracket is not closed in %s", rule.Alert, rule.Expr)
			}
			var labels []string
			names := metricName.FindAllString(rule.Expr, -1)
			if len(names) == 0 {
				t.Errorf("%s is about no metric: %s", rule.Alert, rule.Expr)
			}
			for _, name := range names {
				of, ok := metrics[name]
				if !ok {
					t.Errorf("%s: kubectl gc does not write %s", rule.Alert, name)
				}
				labels = append(labels, of...)
			}
			kept := labels // what is not aggregated keeps all of its labels
			for _, m := range byLabels.FindAllStringSubmatch(rule.Expr, -1) {
				kept = strings.Split(m[1], ", ")
			}
			if !slices.Contains(kept, "cluster") || !slices.Contains(kept, "cluster_uid") {
				t.Errorf("%s mixes clusters: %s", rule.Alert, rule.Expr)
			}
			for _, word := range wordOfQuery.FindAllString(strings.ReplaceAll(rule.Expr, `"error"`, ""), -1) {
				if !slices.Contains(names, word) && !slices.Contains(labels, word) && !slices.Contains(known, word) {
					t.Errorf("%s: %q is neither a metric, a label of one, nor a word of PromQL that is used here", rule.Alert, word)
				}
			}
			for name, text := range rule.Annotations {
				for _, m := range usedLabel.FindAllStringSubmatch(text, -1) {
					if !slices.Contains(kept, m[1]) {
						t.Errorf("%s: %s uses label %s, which the expression does not have", rule.Alert, name, m[1])
					}
				}
				functions := template.FuncMap{"humanizeDuration": func(any) string { return "1h" }}
				if _, err := template.New("").Funcs(functions).Parse("{{ $labels := .Labels }}{{ $value := .Value }}" +
					text); err != nil {
					t.Errorf("%s: %s: %v", rule.Alert, name, err)
				}
			}
		}
	}
	if alerts == 0 {
		t.Error("there are no alerts")
	}
}
