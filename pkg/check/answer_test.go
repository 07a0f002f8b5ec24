package check_test

import (
	"errors"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/check"
)

// TestTheAnswerIsAFindingOfTheSeverityOrWorse, and what could not be checked is a refusal.
func TestTheAnswerIsAFindingOfTheSeverityOrWorse(t *testing.T) {
	t.Parallel()
	warned := []v1alpha1.CheckFinding{{Severity: string(check.Warning)}}
	for name, test := range map[string]struct {
		report         v1alpha1.CheckReport
		least          check.Severity
		found, refused bool
	}{
		"nothing":            {report: v1alpha1.CheckReport{Complete: true}, least: check.Info},
		"below the severity": {report: v1alpha1.CheckReport{Complete: true, Findings: warned}, least: check.Error},
		"of the severity": {report: v1alpha1.CheckReport{Complete: true, Findings: warned}, least: check.Warning,
			found: true},
		"worse": {report: v1alpha1.CheckReport{Complete: true, Findings: warned}, least: check.Info,
			found: true},
		"incomplete":            {report: v1alpha1.CheckReport{Findings: warned}, least: check.Error, refused: true},
		"incomplete, and found": {report: v1alpha1.CheckReport{Findings: warned}, least: check.Warning, found: true},
	} {
		err := check.Finding(&test.report, test.least)
		if errors.Is(err, answer.ErrFound) != test.found || answer.IsRefusal(err) != test.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEveryCodeIsOfTheTable once, with a meaning.
func TestEveryCodeIsOfTheTable(t *testing.T) {
	t.Parallel()
	seen := map[check.Code]bool{}
	for _, k := range check.Kinds {
		if seen[k.Code] || k.Meaning == "" || k.Severity == "" {
			t.Errorf("%+v", k)
		}
		seen[k.Code] = true
	}
}
