package core

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// maxSaid is how many conditions and texts of one object are quoted, and maxText how much of one, in characters.
const (
	maxSaid = 6
	maxText = 400
)

// Says returns what an object says itself, whoever removes its finalizers: the conditions that fail, the texts of its status that tell of a failure, and
// its last warnings. It comes first in what was seen.
func (e *Examination) Says(ctx context.Context, o *unstructured.Unstructured) []v1alpha1.Observation {
	var all []v1alpha1.Observation
	seen := map[string]bool{}
	for _, c := range status.Failing(o) {
		if c.Message != "" && seen[c.Message] {
			continue
		}
		seen[c.Message] = true
		all = append(all, ObservedAt(From(o, c.Field), e.Quoted(c))...)
	}
	for _, s := range status.Texts(o) {
		if seen[s.Text] {
			continue
		}
		seen[s.Text] = true
		all = append(all, ObservedAt(From(o, s.Field), fmt.Sprintf("its %s is: %s", s.Field, Brief(s.Text)))...)
	}
	if more := len(all) - maxSaid; more > 0 {
		all = append(all[:maxSaid], ObservedAt(From(o, "status"), fmt.Sprintf("its status tells of %d more failures", more))...)
	}
	return append(all, e.warned(ctx, o)...)
}

// Failing are the conditions of an object that fail, as evidence.
func (e *Examination) Failing(o *unstructured.Unstructured) []v1alpha1.Observation {
	var all []v1alpha1.Observation
	for _, c := range status.Failing(o) {
		all = append(all, ObservedAt(From(o, c.Field), e.Quoted(c))...)
	}
	return all[:min(len(all), maxSaid)]
}

// Quoted is a condition as evidence: its status, for how long it has been that, its reason and its message.
func (e *Examination) Quoted(c status.Condition) string {
	s := fmt.Sprintf("its condition %s is %s", c.Type, c.Status)
	if !c.Since.IsZero() {
		s += " for " + phrase.Ago(e.Now.Sub(c.Since))
	}
	if c.Reason != "" && !strings.Contains(c.Message, c.Reason) {
		s += " (" + c.Reason + ")"
	}
	if c.Message != "" {
		s += ": " + Brief(c.Message)
	}
	return s
}

// Brief is a text on one line, and no longer than anybody reads.
func Brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > maxText {
		return string(r[:maxText]) + " …"
	}
	return text
}
