package render

import (
	"encoding/xml"
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string      `xml:"classname,attr"`
	Name    string      `xml:"name,attr"`
	Failure *junitFault `xml:"failure,omitempty"`
	Error   *junitFault `xml:"error,omitempty"`
	Out     string      `xml:"system-out,omitempty"`
}

type junitFault struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes a report as JUnit XML: a test case for each finding, which fails if it is of the
// severity or worse; one for each gap, which is an error; and, if there is neither, one that
// passes.
func JUnit(w io.Writer, report *v1alpha1.CheckReport, least check.Severity) error {
	suite := junitSuite{Name: "kubectl gc check"}
	for _, f := range report.Findings {
		c := junitCase{Class: f.Code, Name: junitName(f)}
		if check.Severity(f.Severity).AtLeast(least) {
			c.Failure = &junitFault{Type: f.Severity, Message: Escape(f.Message), Text: junitText(f)}
		} else {
			c.Out = f.Severity + ": " + junitText(f)
		}
		suite.Cases = append(suite.Cases, c)
	}
	for _, g := range report.Gaps {
		c := junitCase{Class: "Gap", Name: Escape(g.TypeName())}
		if g.Namespace != "" {
			c.Name += " in " + Escape(g.Namespace)
		}
		c.Error = &junitFault{Type: string(g.Reason), Message: Escape(phrase.Shorten(g.Message))}
		suite.Cases = append(suite.Cases, c)
	}
	if len(suite.Cases) == 0 {
		suite.Cases = []junitCase{{Class: "check", Name: "owner references"}}
	}
	return suite.write(w)
}

// write writes the suite as a document, with its counts.
func (s junitSuite) write(w io.Writer) error {
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
		if c.Failure != nil {
			s.Failures++
		}
		if c.Error != nil {
			s.Errors++
		}
	}
	text, err := xml.MarshalIndent(junitSuites{Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Suite: s}, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}

// junitName tells findings of one code apart: by the object and the owner.
func junitName(f v1alpha1.CheckFinding) string {
	name := qualified(f.Object)
	switch {
	case f.OwnerReference != nil:
		name += ": owner " + Escape(f.OwnerReference.Kind+"/"+f.OwnerReference.Name)
	case f.Finalizer != "":
		name += ": finalizer " + Escape(f.Finalizer)
	}
	return name
}

func junitText(f v1alpha1.CheckFinding) string {
	lines := []string{f.Message, f.Consequence}
	if f.File != "" {
		lines = append(lines, f.File)
	}
	if f.Remedy != "" {
		lines = append(lines, f.Remedy)
	}
	return phrase.EscapeLines(strings.Join(append(lines, f.Commands...), "\n"))
}
