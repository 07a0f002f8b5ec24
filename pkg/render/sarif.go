package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// The parts of SARIF 2.1.0 that are written, under the names of its schema
// (oasis-tcs/sarif-spec, Schemata/sarif-schema-2.1.0.json).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID              string            `json:"ruleId"`
		RuleIndex           int               `json:"ruleIndex"`
		Level               string            `json:"level"`
		Message             sarifText         `json:"message"`
		Locations           []sarifLocation   `json:"locations,omitempty"`
		PartialFingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region struct {
			StartLine int `json:"startLine"`
		} `json:"region"`
	}
	sarifLogical struct {
		Name               string `json:"name"`
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	}
)

// newSARIF returns a run without results. It has all rules of a command, in their order, so that
// who reads it knows what was looked for.
func newSARIF(rules func(yield func(code, severity, means string))) *sarifRun {
	run := &sarifRun{Results: []sarifResult{}}
	run.Tool.Driver.Name, run.Tool.Driver.InformationURI = "kubectl-gc", "https://github.com/kubectl-gc/kubectl-gc"
	rules(func(code, _, means string) {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{code, sarifText{means}})
	})
	return run
}

// add adds a result. What it is about, and not its words, tells it from others of its rule, under
// the name that GitHub goes by; it would otherwise go by the first line of the file.
func (r *sarifRun) add(code, level, message, file string, objects []v1alpha1.ObjectRef) {
	location := sarifLocation{Physical: physical(file)}
	named := []string{code}
	for _, o := range objects {
		name := qualified(o)
		named = append(named, o.Group(), name)
		location.Logical = append(location.Logical, sarifLogical{Escape(o.Name), name, "object"})
	}
	if len(objects) == 0 {
		named = append(named, message)
	}
	result := sarifResult{RuleID: code, Level: level, Message: sarifText{phrase.EscapeLines(message)}}
	if location.Physical != nil || location.Logical != nil {
		result.Locations = []sarifLocation{location}
	}
	result.RuleIndex = slices.IndexFunc(r.Tool.Driver.Rules, func(rule sarifRule) bool { return rule.ID == code })
	sum := sha256.Sum256([]byte(strings.Join(named, "\x00")))
	result.PartialFingerprints = map[string]string{"primaryLocationLineHash": hex.EncodeToString(sum[:8])}
	r.Results = append(r.Results, result)
}

// physical is where a file stands; nil if there is none that could be named, as standard input.
func physical(file string) *sarifPhysical {
	if file == "" || file == "STDIN" || file == "-" {
		return nil
	}
	var at sarifPhysical
	at.Region.StartLine = 1
	at.Artifact.URI = file
	if !strings.Contains(file, "://") {
		path := url.URL{Path: filepath.ToSlash(filepath.Clean(file))}
		if filepath.IsAbs(file) {
			path.Scheme = "file"
		}
		at.Artifact.URI = path.String()
	}
	return &at
}

// write writes the run as a log.
func (r *sarifRun) write(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{*r}})
}

// sarifLevel is the level of a severity.
func sarifLevel(severity string) string {
	if severity == info {
		return "note"
	}
	return severity
}

// PlanSARIF writes what there is to say of a plan as SARIF: a rule for each kind of finding and
// each reason of --fail-on. An error is what the named of these are about, and always data that are
// lost, what does not complete, and what is protected. The file is where the first object stands
// that the finding is about or that takes it along, or the first that was given.
func PlanSARIF(w io.Writer, p Plan, names []string, file func([]v1alpha1.ObjectRef) string) error {
	run := newSARIF(func(yield func(code, severity, means string)) {
		reasonCodes(yield)
		FindingCodes(yield)
	})
	if p.Plan == nil {
		return run.write(w)
	}
	bad := slices.Concat(names, []string{"data-loss", "stuck", Protected})
	for _, f := range p.reasons() {
		level := sarifLevel(f.Severity)
		if slices.ContainsFunc(gates, func(g gate) bool {
			return slices.Contains(bad, g.name) && slices.Contains(g.codes, f.Code)
		}) {
			level = severe
		}
		run.add(f.Code, level, f.Message, file(f.Objects), f.Objects)
	}
	return run.write(w)
}

// CheckSARIF writes a report as SARIF: a rule for each kind of finding, and one for what could not
// be checked.
func CheckSARIF(w io.Writer, report *v1alpha1.CheckReport) error {
	run := newSARIF(func(yield func(code, severity, means string)) {
		for _, k := range check.Kinds {
			yield(string(k.Code), string(k.Severity), k.Meaning)
		}
		yield(notListed, warning, "what could not be listed was not checked")
	})
	for _, f := range report.Findings {
		run.add(f.Code, sarifLevel(f.Severity), f.Message+": "+f.Consequence, f.File, []v1alpha1.ObjectRef{f.Object})
	}
	for _, g := range report.Gaps {
		run.add(notListed, warning, "cannot check "+g.TypeName()+": "+phrase.Shorten(g.Message), "", nil)
	}
	return run.write(w)
}
