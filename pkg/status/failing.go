package status

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Failing returns the conditions that tell of the deletion, and then those that say that something
// is wrong, in the order of the object: a Cluster that is being deleted has nine of them, and the
// last says what it waits for. Which status is a failure is the type's: Ready=False and
// Stalled=True are. A type that is not known counts only if its reason or its message speaks of a
// failure.
func Failing(o *unstructured.Unstructured) []Condition {
	var all []Condition
	for _, c := range Conditions(o) {
		again := slices.ContainsFunc(all, func(a Condition) bool { return a.Type == c.Type && a.Message == c.Message })
		if c.fails() && !again {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b Condition) int { return cmp.Compare(a.order(), b.order()) })
	return all
}

// order is 0 for a condition that tells of the deletion.
func (c Condition) order() int {
	if c.polarity() == tellsOfDeletion {
		return 0
	}
	return 1
}

func (c Condition) fails() bool {
	switch c.polarity() {
	case wellIfTrue:
		return c.Status == "False" || c.Status == "Unknown" && SaysFailure(c.Reason, c.Message)
	case wellIfFalse:
		return c.Status == "True" || c.Status == "Unknown" && SaysFailure(c.Reason, c.Message) ||
			c.Status == "" && c.Message != "" // those of Argo CD have no status: they are there as long as they hold
	case tellsOfDeletion:
		return c.Message != "" && (c.Status == "True" || SaysFailure(c.Reason, c.Message))
	}
	return SaysFailure(c.Reason, c.Message)
}

// polarity is which status of a condition means that all is well.
type polarity uint8

const (
	unknownPolarity polarity = iota
	wellIfTrue
	wellIfFalse
	// tellsOfDeletion: True is what happens to every object that is deleted, and the message tells
	// how far it is.
	tellsOfDeletion
)

// The last words of condition types, in the order in which they are tried: "Unavailable" before
// "Available". They are those of the API conventions and of the projects whose finalizers the packs
// know.
var (
	deletionWords = []string{"Deleting", "Terminating", "DeletionInProgress"}
	badWords      = []string{
		"Unavailable", "Unhealthy", "Unready", "Unreachable", "Unschedulable", "Unsupported", "Stalled",
		"Degraded", "Failed", "Failing", "Failure", "Error", "Errored", "Errors",
		"Blocked", "InUse", "Recoverable", "Terminal", "Invalid", "Misconfigured", "Conflict", "Conflicted", "Conflicting",
		"Pressure", "Problem", "Exceeded", "Denied", "Rejected", "Stuck", "Timeout", "TimedOut", "Remaining", "Offline",
		"Disconnected",
	}
	goodWords = []string{
		"Ready", "Synced", "Available", "Healthy", "Reconciled", "Succeeded", "Success", "Successful", "Accepted",
		"Programmed", "Established", "Valid", "Deployed", "Provisioned", "Installed",
		"Attached", "Applied", "Connected", "Reachable", "Resolved", "ResolvedRefs", "Issued", "UpToDate", "Current",
		"Admitted", "Deletable", "Completed",
	}
)

func (c Condition) polarity() polarity {
	name := c.Type
	if i := strings.LastIndexAny(name, "./"); i >= 0 { // ACK.Recoverable, example.com/Ready
		name = name[i+1:]
	}
	for _, words := range []struct {
		are, not polarity
		of       []string
	}{
		{tellsOfDeletion, tellsOfDeletion, deletionWords}, {wellIfFalse, wellIfTrue, badWords},
		{wellIfTrue, wellIfFalse, goodWords},
	} {
		for _, word := range words.of {
			switch before, of := strings.CutSuffix(name, word); {
			case of && negated.MatchString(before): // NoErrors, NotReady
				return words.not
			case of:
				return words.are
			}
		}
	}
	return unknownPolarity
}

var (
	// failureWords are what a reason, split into words, or a message says of a failure.
	failureWords = regexp.MustCompile(
		`(?i)\b(fail(s|ed|ing|ure|ures)?|errors?|errored|denied|forbidden|unauthorized|unauthenticated|not found|cannot|can't|could not|couldn't|unable|timed ?out|timeout|refused|rejected|invalid|blocked|in use|still used|exceeded|conflicts?|missing|does not exist|doesn't exist|no ([\w-]+ ){1,6}exists?|stuck|not empty|dependency violation|(?:that|which) blocks? (?:the |its )?deletion)\b`)
	// noFailure are the ways to say that there is none, and what is only called after failures: the
	// failureThreshold of a probe, or the timeout with which something runs.
	noFailure = regexp.MustCompile(
		`(?i)\b(no|0|without|zero|not|never) (\w+ )?(fail(ed|ing|ures?)?|errors?|conflicts?|missing|blocked|stuck|rejected|invalid)\b|` +
			`\b(not|no longer|never) (in use|still used|exceeded|denied|forbidden|refused)\b|` +
			`\b(0/\d+|0 of \d+|no|none|nothing)( \w+)? ((is|are|was|were|has|have|had) )?(failed|failing|missing|blocked|stuck|rejected|invalid)\b|` +
			`\b(failed|failures?|errors?|conflicts?|rejected|invalid)( ?[:=] ?| )(0\b|none\b|nil\b|<nil>)|` +
			`\b(failed|failures?|errors?)( \w+)? ?[:=] ?(0|false|null|<none>)([^\w\s]|$)|` +
			`\bfailure (thresholds?|domains?|polic(y|ies)(: fail\b)?)\b|\bwith (a )?timeout of \d`)
	negated = regexp.MustCompile(`(^|[a-z])(No|Not|Non)$`)
	camel   = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// SaysFailure reports whether one of some texts speaks of a failure: a message, or a reason as
// ReconcileError.
func SaysFailure(texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		return failureWords.MatchString(noFailure.ReplaceAllString(camel.ReplaceAllString(text, "$1 $2"), ""))
	})
}

// Trouble returns the condition to show of an object for which there is one line: that it is not
// synced with what it stands for, or else one that speaks of a failure, and Ready last, which has a
// column of its own. It is false if nothing is wrong, or if the object is only not ready yet.
func Trouble(o *unstructured.Unstructured) (Condition, bool) {
	var best Condition
	nearest := 0
	for _, c := range Failing(o) {
		if near := c.trouble(); near > nearest {
			best, nearest = c, near
		}
	}
	return best, nearest > 0
}

// trouble is how much a failing condition says of what is wrong; 0 for one that says nothing.
func (c Condition) trouble() int {
	switch {
	case c.Type == "Synced":
		return 3
	case !SaysFailure(c.Reason, c.Message):
		return 0
	case c.Type == "Ready":
		return 1
	}
	return 2
}

// inUse are the reasons of a condition that mean that other objects use the object.
var inUse = map[string]bool{"InUse": true, "ResourceInUse": true, "ObjectHasDependents": true}

// InUse reports whether a condition says that the object is not deleted as long as others use it:
// by its type, which Rook and Crossplane have, or, of one that fails, by its reason.
func (c Condition) InUse() bool {
	switch c.Type {
	case "DeletionIsBlocked", "InUse":
		return c.Status == "True"
	}
	return c.fails() && inUse[c.Reason]
}
