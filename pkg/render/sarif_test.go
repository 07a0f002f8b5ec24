package render_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// result is what is looked at of a result of SARIF.
type result struct {
	RuleID    string
	RuleIndex int
	Level     string
	Message   struct{ Text string }
	Locations []struct {
		PhysicalLocation *struct {
			ArtifactLocation struct{ URI string }
			Region           struct{ StartLine int }
		}
		LogicalLocations []struct{ Name, FullyQualifiedName, Kind string }
	}
	PartialFingerprints map[string]string
}

// resultsOf returns the results of a log, after it was seen to have what the schema of SARIF 2.1.0
// requires: a version, a driver with a name, rules with ids of their own, and of each result a
// text, a level that there is, and its rule.
func resultsOf(t *testing.T, out *bytes.Buffer) []result {
	t.Helper()
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct {
						ID               string
						ShortDescription struct{ Text string }
					}
				}
			}
			Results *[]result
		}
	}
	if err := json.Unmarshal(out.Bytes(), &log); err != nil {
		t.Fatalf("%v in:\n%s", err, out)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name == "" || log.Runs[0].Results == nil {
		t.Fatalf("no log of SARIF 2.1.0 with a run: %s", out)
	}
	rules := log.Runs[0].Tool.Driver.Rules
	var ids []string
	for _, rule := range rules {
		if rule.ID == "" || rule.ShortDescription.Text == "" || slices.Contains(ids, rule.ID) {
			t.Errorf("rule %+v has no id of its own, or no text", rule)
		}
		ids = append(ids, rule.ID)
	}
	for _, r := range *log.Runs[0].Results {
		switch {
		case r.RuleIndex < 0 || r.RuleIndex >= len(rules) || rules[r.RuleIndex].ID != r.RuleID:
			t.Errorf("%s has the rule %d of %d", r.RuleID, r.RuleIndex, len(rules))
		case !slices.Contains([]string{"error", "warning", "note"}, r.Level), r.Message.Text == "":
			t.Errorf("%s has level %q and text %q", r.RuleID, r.Level, r.Message.Text)
		case len(r.PartialFingerprints["primaryLocationLineHash"]) != 16:
			t.Errorf("%s has the fingerprints %v", r.RuleID, r.PartialFingerprints)
		}
	}
	return *log.Runs[0].Results
}

// TestCheckSARIF has a result for each finding and each gap, whatever objects are called.
func TestCheckSARIF(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := render.CheckSARIF(&out, hostileReport()); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\x00\u202e\r<>") {
		t.Errorf("text of objects came through: %q", out.String())
	}
	var got []string
	for _, r := range resultsOf(t, &out) {
		got = append(got, r.RuleID+" "+r.Level)
	}
	want := []string{"OwnerAbsent error", "InexactKind warning", "OwnerCollected note", "NotListed warning"}
	if !slices.Equal(got, want) {
		t.Errorf("results %q, want %q", got, want)
	}
	out.Reset()
	if err := render.CheckSARIF(&out, &v1alpha1.CheckReport{}); err != nil || len(resultsOf(t, &out)) != 0 {
		t.Errorf("%v: nothing found is %s", err, out.String())
	}
}

// TestSARIFNamesFilesAsURIs, and none that is no file.
func TestSARIFNamesFilesAsURIs(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"deploy/all.yaml": "deploy/all.yaml", "./deploy//a b#c.yaml": "deploy/a%20b%23c.yaml", "/srv/a%.yaml": "file:///srv/a%25.yaml",
		"https://example.com/a.yaml": "https://example.com/a.yaml", "a:b.yaml": "./a:b.yaml", "STDIN": "", "": "",
	} {
		var out bytes.Buffer
		report := v1alpha1.CheckReport{Findings: []v1alpha1.CheckFinding{{Code: string(check.OwnerAbsent), Severity: "error",
			Object: v1alpha1.ObjectRef{Kind: "Pod", Namespace: "shop", Name: "web"}, Message: "m", File: file}}}
		if err := render.CheckSARIF(&out, &report); err != nil {
			t.Fatal(err)
		}
		at := resultsOf(t, &out)[0].Locations[0]
		got := ""
		if at.PhysicalLocation != nil {
			got = at.PhysicalLocation.ArtifactLocation.URI
		}
		if got != want || at.LogicalLocations[0].FullyQualifiedName != "pod/web in shop" {
			t.Errorf("%q is at %q, want %q; %+v", file, got, want, at)
		}
	}
}

// TestPlanSARIF: what --fail-on names is an error, as what is always bad; the rest has its severity.
func TestPlanSARIF(t *testing.T) {
	t.Parallel()
	p, _ := remarkable(t)
	p.Learn(plan.Details{Facts: plan.Facts{Disks: []v1alpha1.Disk{{Volume: v1alpha1.ObjectRef{Kind: "PersistentVolume", Name: "pv\x1b"}}}}})
	p.Gaps = []v1alpha1.Gap{{Resource: "secrets"}}
	file := func([]v1alpha1.ObjectRef) string { return "a.yaml" }
	levels := func(p render.Plan, names ...string) map[string]string {
		var out bytes.Buffer
		if err := render.PlanSARIF(&out, p, names, file); err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for _, r := range resultsOf(t, &out) {
			all[r.RuleID] = r.Level
			if len(r.Locations) != 1 || r.Locations[0].PhysicalLocation == nil ||
				r.Locations[0].PhysicalLocation.Region.StartLine != 1 {
				t.Errorf("GitHub takes no file with %s, which is at no place: %+v", r.RuleID, r.Locations)
			}
		}
		return all
	}
	got := levels(p)
	for code, want := range map[string]string{"DataDestroyed": "error", "NotListed": "warning", "NotBlocking": "note",
		"OwnerKept": "warning"} {
		if got[code] != want {
			t.Errorf("%s is %q, want %q: %v", code, got[code], want, got)
		}
	}
	if got := levels(p, "gaps"); got["NotListed"] != "error" || got["OwnerKept"] != "warning" {
		t.Errorf("with --fail-on=gaps: %v", got)
	}
	if got := levels(render.Plan{}); len(got) != 0 {
		t.Errorf("a plan of nothing has %v", got)
	}
}
