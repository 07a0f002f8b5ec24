package status

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// deletionSaid is what a reason, split into words, or a message says of a deletion.
var deletionSaid = regexp.MustCompile(
	`(?i)\b(delet(e|ed|es|ing|ion)|terminat(e|ed|es|ing|ion)|finali[sz](e|er|ers|ing)|drain(ed|ing)?|destroy(ed|ing)?|uninstall(ed|ing)?|clean(ing)? ?up)\b`)

// OfDeletion returns the condition in which an object tells of its deletion: one that is True or
// False since then, or says what somebody waits for, those that fail first. It is false if there is
// none: what was said before is about something else, and what is well keeps nothing.
func OfDeletion(o *unstructured.Unstructured) (Condition, bool) {
	for _, c := range slices.Concat(Failing(o), Conditions(o)) {
		if c.Message != "" && (c.Status == "True" || c.Status == "False" || SaysWaiting(c.Message)) && c.sinceDeletion(o) && !c.well() &&
			(c.polarity() == tellsOfDeletion || SaysDeletion(c.Reason, c.Message)) {
			return c, true
		}
	}
	return Condition{}, false
}

// Blocks returns a condition that fails and says what blocks the deletion, or a step of it: that
// holds whenever it was said, unless the spec has changed since. False if there is none.
func Blocks(o *unstructured.Unstructured) (Condition, bool) {
	for _, c := range Failing(o) {
		if SaysDeletion(c.Reason, c.Message) && blocked.MatchString(c.Message) && !c.outdated(o) {
			return c, true
		}
	}
	return Condition{}, false
}

// StillFailing returns a condition that fails and has a message, whenever it was written: one
// without a time, as those of ACK, or one that speaks of a failure. One that speaks of a deletion
// comes first, and one from before a change of the spec does not count. False if there is none.
func StillFailing(o *unstructured.Unstructured) (Condition, bool) {
	all := slices.DeleteFunc(Failing(o), func(c Condition) bool {
		return c.Message == "" || !c.Since.IsZero() && !SaysFailure(c.Reason, c.Message) || c.outdated(o)
	})
	if len(all) == 0 {
		return Condition{}, false
	}
	i := slices.IndexFunc(all, func(c Condition) bool { return SaysDeletion(c.Reason, c.Message) })
	return all[max(0, i)], true
}

// well reports whether a condition says that all is well. Where only the message does, or the type says
// of what is well, the message may say otherwise.
func (c Condition) well() bool {
	switch {
	case c.polarity() == wellIfFalse && c.Status == "False":
		return true
	case succeeded.MatchString(c.Message) || noFailure.MatchString(camel.ReplaceAllString(c.Message, "$1 $2")) ||
		c.polarity() == wellIfTrue && c.Status == "True":
		return !SaysFailure(c.Message) && !SaysWaiting(c.Message) && !unsucceeded.MatchString(c.Message)
	}
	return false
}

// succeeded is how a message says that something was done, and unsucceeded that it was not, or not all.
var (
	succeeded   = regexp.MustCompile(`(?i)\b(successful(ly)?|succeeded|completed?|finished)\b`)
	unsucceeded = regexp.MustCompile(`(?i)\b(not|n't|never|until|once|when|before|after|to)( \w+){0,2} (successful(ly)?|succeed(ed)?|completed?|finish(ed)?)\b` +
		`|\b(remain(s|ing)?|left|pending|still|but|progress)\b|\d ?(of|/) ?\d|\d ?%`)
)

// blocked is how a message says that something stands in the way until it is removed.
var blocked = regexp.MustCompile(`(?i)\bblock(ed|s|ing)\b`)

// FailedSince returns a condition that fails and has changed since the deletion, with what it says:
// one that speaks of a failure comes first. If none has a message it is the reason of one, if that
// speaks of a failure: NodeNotFound; one whose type says what that means comes first. False if
// there is none.
func FailedSince(o *unstructured.Unstructured) (Condition, bool) {
	var all, without []Condition
	for _, c := range Failing(o) {
		switch {
		case !c.sinceDeletion(o):
		case c.Message != "":
			all = append(all, c)
		case SaysFailure(c.Reason, ""):
			c.Message = c.Reason
			without = append(without, c)
		}
	}
	if len(all) == 0 {
		slices.SortStableFunc(without, func(a, b Condition) int { // Failure before Running
			return cmp.Compare(min(b.polarity(), 1), min(a.polarity(), 1))
		})
		all = without
	}
	i := slices.IndexFunc(all, func(c Condition) bool { return SaysFailure(c.Reason, c.Message) })
	if len(all) == 0 {
		return Condition{}, false
	}
	return all[max(0, i)], true
}

// ToldSince returns the last condition with a message that has changed since the deletion and does not
// say that all is well, whatever it means. False if there is none.
func ToldSince(o *unstructured.Unstructured) (Condition, bool) {
	var last Condition
	for _, c := range Conditions(o) {
		if c.Message != "" && !c.well() && c.sinceDeletion(o) && !c.Since.Before(last.Since) {
			last = c
		}
	}
	return last, last.Type != ""
}

// SaysDeletion reports whether a reason, as FailedDraining, or a message speaks of a deletion.
func SaysDeletion(reason, message string) bool {
	return deletionSaid.MatchString(camel.ReplaceAllString(reason, "$1 $2") + " " + message)
}

// quotaExceeded is how the server says that it creates nothing for a ResourceQuota.
var quotaExceeded = regexp.MustCompile(`exceeded quota: ([a-z0-9]([-a-z0-9.]*[a-z0-9])?),`)

// ExceededQuota returns the name of the ResourceQuota for which, as a text says, something was not
// created; empty if it does not say that.
func ExceededQuota(text string) string {
	if m := quotaExceeded.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// Denied is a right that a ServiceAccount lacks. Namespace is empty if it does everywhere.
type Denied struct{ AccountNamespace, Account, Verb, Resource, Group, Namespace string }

// rightDenied is how the server says that a ServiceAccount may not do something.
var rightDenied = regexp.MustCompile(`User "system:serviceaccount:([a-z0-9-]+):([a-z0-9.-]+)" cannot ([a-z]+) ` +
	`resource "([a-z0-9/.-]+)" in API group "([a-z0-9.-]*)"(?: in the namespace "([a-z0-9-]+)")?`)

// DeniedRight returns the right that a ServiceAccount lacks, as a text says; false if it does not
// say that.
func DeniedRight(text string) (Denied, bool) {
	m := rightDenied.FindStringSubmatch(text)
	if m == nil {
		return Denied{}, false
	}
	return Denied{m[1], m[2], m[3], m[4], m[5], m[6]}, true
}

// Approved reports whether somebody has let the actor go on with the deletion of an object: an
// annotation has the time at which that was, which is not before the deletion.
func Approved(o *unstructured.Unstructured, annotation string) bool {
	deleted := o.GetDeletionTimestamp()
	at, err := time.Parse(time.RFC3339, o.GetAnnotations()[annotation])
	return err == nil && deleted != nil && !at.Before(deleted.Time)
}

// waiting is how a message says that somebody waits for something, or that its deletion has not
// ended.
var waiting = regexp.MustCompile(`(?i)\bwait(s|ing)? (for|until|on)\b|\bstill (?:terminating|deleting|being deleted)\b`)

// SaysWaiting reports whether a text says that somebody waits for something.
func SaysWaiting(text string) bool { return waiting.MatchString(text) }
