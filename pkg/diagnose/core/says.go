package core

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// maxSaid is how many conditions and texts of one object are quoted, and maxText how much of one,
// in characters.
const (
	maxSaid = 6
	maxText = 400
)

// Says returns what an object says itself, whoever removes its finalizers: the conditions that
// fail, the texts of its status that tell of a failure, and its last warnings. It comes first in
// what was seen.
func (e *Examination) Says(ctx context.Context, o *unstructured.Unstructured) []v1alpha1.Observation {
	var all []v1alpha1.Observation
	seen := map[string]bool{}
	for _, c := range status.Failing(o) {
		if c.Message != "" && seen[c.Message] {
			continue
		}
		seen[c.Message] = true
		all = append(all, ObservedAt(cluster.Place(o, c.Field), e.Quoted(c))...)
	}
	for _, s := range slices.Concat(status.Texts(o), status.Annotated(o)) {
		if seen[s.Text] {
			continue
		}
		seen[s.Text] = true
		all = append(all, ObservedAt(cluster.Place(o, s.Field), fmt.Sprintf("its %s is: %s", s.Field, Brief(s.Text)))...)
	}
	if s := status.Stage(o); len(all) == 0 && s.Text != "" && !cluster.BuiltIn(o.GroupVersionKind().Group) {
		all = ObservedAt(cluster.Place(o, s.Field), fmt.Sprintf("its %s is: %s", s.Field, Brief(s.Text)))
	}
	if more := len(all) - maxSaid; more > 0 {
		all = append(all[:maxSaid], ObservedAt(cluster.Place(o, "status"),
			fmt.Sprintf("its status tells of %d more failures", more))...)
	}
	return append(all, e.warned(ctx, o)...)
}

// Failing are the conditions of an object that fail, as evidence.
func (e *Examination) Failing(o *unstructured.Unstructured) []v1alpha1.Observation {
	var all []v1alpha1.Observation
	for _, c := range status.Failing(o) {
		all = append(all, ObservedAt(cluster.Place(o, c.Field), e.Quoted(c))...)
	}
	return all[:min(len(all), maxSaid)]
}

// Quoted is a condition as evidence: its status, for how long it has been that, its reason and its
// message.
func (e *Examination) Quoted(c status.Condition) string {
	s := fmt.Sprintf("its condition %s is %s", c.Type, cmp.Or(c.Status, "set"))
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

// Brief is a text on one line, and no longer than anybody reads. Of a longer one it has the beginning
// and the end: what wraps an error stands before it.
func Brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > maxText {
		return string(r[:maxText/2]) + " … " + string(r[len(r)-maxText/2:])
	}
	return text
}

// maxWarnings is how many warnings of one object are quoted, each of another reason.
const maxWarnings = 3

// warning is an event about an object, a Warning as a rule.
type warning struct {
	Reason, Message string
	// times is how often it came, and Last when it came last.
	times int64
	Last  time.Time
	Event *unstructured.Unstructured
}

// warned returns the last warnings about an object, the newest first, one for each reason. Where
// events cannot be read there are none: they are kept for an hour and prove nothing.
func (e *Examination) warned(ctx context.Context, o *unstructured.Unstructured) []v1alpha1.Observation {
	var all []v1alpha1.Observation
	for i, w := range e.Warnings(ctx, o) {
		all = append(all, ObservedAt(cluster.Place(w.Event, ""), e.QuotedWarning(i, w))...)
	}
	return all
}

// LastWarning says when the last warning about an object was, and who recorded it: never, if there
// is none.
func (e *Examination) LastWarning(ctx context.Context, o *unstructured.Unstructured) (at time.Time, by string) {
	all := e.Warnings(ctx, o)
	if len(all) == 0 {
		return time.Time{}, ""
	}
	return all[0].Last, cmp.Or(all[0].Recorder(), "somebody")
}

// Recorder is the name of whoever recorded it, empty if it does not say.
func (w warning) Recorder() string {
	return status.FieldOr(w.Event, "reportingComponent", status.Nested(w.Event, "source", "component"))
}

// QuotedWarning is a warning as evidence: the first is the last that came.
func (e *Examination) QuotedWarning(i int, w warning) string {
	which, times := "another", ""
	if i == 0 {
		which = "its last"
	}
	if w.times > 1 {
		times = phrase.Count(int(w.times), "time") + ", "
	}
	return fmt.Sprintf("%s warning is %s: %s (%s%s ago)", which, w.Reason, Brief(w.Message), times,
		phrase.Ago(e.Now.Sub(w.Last)))
}

// Warnings returns the last warnings about an object, the newest first, at most one for each
// reason.
func (e *Examination) Warnings(ctx context.Context, o *unstructured.Unstructured) []warning {
	var distinct []warning
	for _, w := range e.events(ctx, o, "Warning") {
		if len(distinct) < maxWarnings &&
			!slices.ContainsFunc(distinct, func(d warning) bool { return d.Reason == w.Reason }) {
			distinct = append(distinct, w)
		}
	}
	return distinct
}

// Waiting is the last event about an object, at a time or later, that is no warning and says what
// somebody waits for. Of many objects none is looked for.
func (e *Examination) Waiting(ctx context.Context, o *unstructured.Unstructured, since time.Time) (warning, bool) {
	if e.ManyLooks {
		return warning{}, false
	}
	all := e.events(ctx, o, "Normal")
	i := slices.IndexFunc(all, func(w warning) bool { return !w.Last.Before(since) && status.SaysWaiting(w.Message) })
	if i < 0 {
		return warning{}, false
	}
	return all[i], true
}

// events are those of a type about an object, the newest first.
func (e *Examination) events(ctx context.Context, o *unstructured.Unstructured, of string) []warning {
	// The server has no index by object: of many objects all events of a namespace are read once.
	selected := cluster.Selection{Fields: "type=" + of}
	if !e.ManyLooks {
		selected.Fields += ",involvedObject.uid=" + string(o.GetUID())
	}
	namespace := o.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault // where client-go records what is about objects in no namespace
	}
	// They prove nothing by being absent, so that those count that were read before an error.
	list, _ := e.Reader.ListObjects(ctx, cluster.Events, namespace, selected)
	var all []warning
	for _, event := range list {
		if status.Nested(event, "involvedObject", "uid") == string(o.GetUID()) {
			all = append(all, warningOf(event))
		}
	}
	slices.SortStableFunc(all, func(a, b warning) int { return b.Last.Compare(a.Last) })
	return all
}

// WarnedSince are the warnings about an object that came at a time or later.
func (e *Examination) WarnedSince(ctx context.Context, o *unstructured.Unstructured, since time.Time) []warning {
	return slices.DeleteFunc(e.Warnings(ctx, o), func(w warning) bool { return w.Last.Before(since) })
}

// warningOf reads an event, be it written through the core group or through events.k8s.io: both are
// the same store.
func warningOf(event *unstructured.Unstructured) warning {
	w := warning{Reason: status.Nested(event, "reason"), Message: status.Nested(event, "message"), Event: event}
	for _, path := range [][]string{{"lastTimestamp"}, {"eventTime"}, {"series", "lastObservedTime"}} {
		if at, err := time.Parse(time.RFC3339, status.Nested(event, path...)); err == nil && at.After(w.Last) {
			w.Last = at
		}
	}
	if w.Last.IsZero() {
		w.Last = event.GetCreationTimestamp().Time
	}
	for _, path := range [][]string{{"count"}, {"series", "count"}} {
		if n, ok, _ := unstructured.NestedInt64(event.Object, path...); ok && n > w.times {
			w.times = n
		}
	}
	return w
}
