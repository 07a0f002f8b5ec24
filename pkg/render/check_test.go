package render_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// hostileReport has text that would change what a terminal shows, or end an element of XML.
func hostileReport() *v1alpha1.CheckReport {
	const evil = "x\x1b[31m\x00]]>&<\"'\r\n\u202e\xffy"
	return &v1alpha1.CheckReport{
		Objects: 2, References: 3,
		Findings: []v1alpha1.CheckFinding{
			{
				Object: v1alpha1.ObjectRef{APIVersion: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespace: evil,
					Name: evil, UID: "1"},
				OwnerReference: &metav1.OwnerReference{APIVersion: evil, Kind: evil, Name: evil, UID: evil},
				Code:           string(check.OwnerAbsent), Severity: string(check.Error),
				Message: evil, Effect: string(check.DeleteObject), Consequence: evil, Remedy: evil, Commands: []string{evil},
				Evidence: []string{evil}, File: evil,
			},
			{Object: v1alpha1.ObjectRef{Kind: "ConfigMap", Name: "b", UID: "2"}, Code: string(check.InexactKind),
				Severity: string(check.Warning), Message: "m", Effect: string(check.None)},
			{Object: v1alpha1.ObjectRef{Kind: "ConfigMap", Name: "c", UID: "3"}, Code: string(check.OwnerCollected),
				Severity: string(check.Info), Message: "m", Effect: string(check.DeleteObject)},
		},
		Gaps: []v1alpha1.Gap{{Resource: evil, Group: evil, Namespace: evil, Reason: v1alpha1.GapForbidden, Message: evil}},
	}
}

// TestJUnitIsWellFormed whatever objects are called, and its counts are right.
func TestJUnitIsWellFormed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		report          *v1alpha1.CheckReport
		least           check.Severity
		cases, failures int
		errors          int
	}{
		"nothing found": {&v1alpha1.CheckReport{}, check.Error, 1, 0, 0},
		"errors":        {hostileReport(), check.Error, 4, 1, 1},
		"warnings too":  {hostileReport(), check.Warning, 4, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := render.JUnit(&out, test.report, test.least); err != nil {
				t.Fatal(err)
			}
			var suites struct {
				Tests    int `xml:"tests,attr"`
				Failures int `xml:"failures,attr"`
				Errors   int `xml:"errors,attr"`
				Suite    struct {
					Cases []struct {
						Name    string    `xml:"name,attr"`
						Failure *struct{} `xml:"failure"`
						Error   *struct{} `xml:"error"`
					} `xml:"testcase"`
				} `xml:"testsuite"`
			}
			if err := xml.Unmarshal(out.Bytes(), &suites); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			failed, broken := 0, 0
			for _, c := range suites.Suite.Cases {
				if c.Failure != nil {
					failed++
				}
				if c.Error != nil {
					broken++
				}
			}
			if len(suites.Suite.Cases) != test.cases || suites.Tests != test.cases || failed != test.failures ||
				suites.Failures != failed || broken != test.errors || suites.Errors != broken {
				t.Errorf("%d cases, %d failures, %d errors\n%s", len(suites.Suite.Cases), failed, broken, out.String())
			}
			for d := xml.NewDecoder(&out); ; {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestCheckEscapesWhatObjectsSay: no format for people has a control character that an object
// supplied.
func TestCheckEscapesWhatObjectsSay(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(io.Writer) error{
		"table":      func(w io.Writer) error { return render.Check(w, hostileReport(), render.Style{}) },
		"wide":       func(w io.Writer) error { return render.Check(w, hostileReport(), render.Style{Wide: true}) },
		"name":       func(w io.Writer) error { return render.CheckNames(w, hostileReport(), check.Error) },
		"junit":      func(w io.Writer) error { return render.JUnit(w, hostileReport(), check.Error) },
		"prometheus": func(w io.Writer) error { return render.CheckMetrics(w, hostileReport(), measured) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			if out.Len() == 0 {
				t.Error("nothing was written")
			}
			for _, line := range strings.Split(out.String(), "\n") {
				if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
					t.Errorf("%q", line)
				}
			}
		})
	}
}

// TestNothingIsWrongOnlyWhereWasLooked: what could not be listed is left out of the sentence.
func TestNothingIsWrongOnlyWhereWasLooked(t *testing.T) {
	t.Parallel()
	for want, gaps := range map[string][]v1alpha1.Gap{
		"checked 1 owner reference of 2 objects: nothing is wrong\n": nil,
		"checked 1 owner reference of 2 objects: nothing is wrong in the types that could be listed\nincomplete: secrets": {
			{Resource: "secrets", Reason: v1alpha1.GapForbidden}},
	} {
		var out bytes.Buffer
		err := render.Check(&out, &v1alpha1.CheckReport{Objects: 2, References: 1, Gaps: gaps}, render.Style{})
		if err != nil || !strings.HasPrefix(out.String(), want) {
			t.Errorf("%v: %q, want %q", err, out.String(), want)
		}
	}
}

// TestMetricsCountFindings by code, namespace and severity.
func TestMetricsCountFindings(t *testing.T) {
	t.Parallel()
	finding := v1alpha1.CheckFinding{Object: v1alpha1.ObjectRef{Namespace: "shop"}, Code: string(check.OwnerAbsent),
		Severity: string(check.Error)}
	var out bytes.Buffer
	if err := render.CheckMetrics(&out,
		&v1alpha1.CheckReport{Objects: 7, References: 5, Complete: true, Findings: []v1alpha1.CheckFinding{finding, finding}},
		measured); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`kubectl_gc_check_findings{code="OwnerAbsent",namespace="shop",severity="error"} 2`, "kubectl_gc_check_objects 7",
		"kubectl_gc_check_references 5", "kubectl_gc_check_complete 1",
		"kubectl_gc_check_last_run_timestamp_seconds 1767323045",
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
}

// TestFindingsOfOneObjectAreToldApart in 80 columns: what is said of them stays longer than what
// the collector does.
func TestFindingsOfOneObjectAreToldApart(t *testing.T) {
	t.Parallel()
	report := &v1alpha1.CheckReport{Objects: 1, References: 2}
	for _, owner := range []string{"frontend", "backend"} {
		report.Findings = append(report.Findings, v1alpha1.CheckFinding{
			Object: v1alpha1.ObjectRef{Kind: "ConfigMap", Namespace: "production-shop", Name: "settings-of-the-web"},
			Code:   string(check.OwnerAbsent), Severity: string(check.Error), Effect: string(check.DeleteObject),
			Message: "Deployment/" + owner + " of the shop does not exist, and no other has its uid",
		})
	}
	var out bytes.Buffer
	if err := render.Check(&out, report, render.Style{Width: 80}); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(out.String(), "\n"); lines[1] == lines[2] || !strings.Contains(lines[0], "MESSAGE") {
		t.Errorf("they look the same:\n%s", out.String())
	}
}
