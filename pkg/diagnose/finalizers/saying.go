package finalizers

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// saying is what an object, or a warning about it, says of what keeps it. It is empty if nothing
// does.
type saying struct {
	// what names where it stands: "condition Ready".
	what, message string
	// ofDeletion says that it tells of the deletion, and dated that it came since.
	ofDeletion, dated bool
	// guards says that it is a field of the spec, by which the object is not to be deleted.
	guards bool
}

// said returns what is said of an object that is being deleted: what tells of the deletion first,
// or of what blocks it, then a failure that came since, then a text of which nobody knows when it
// was written, and last an event that is no warning and says what somebody waits for. Those who
// remove finalizers do not write the conditions of built-in objects, nor the warnings about pods.
func (e *Examiner) said(ctx context.Context, o *unstructured.Unstructured) saying {
	deleted := o.GetDeletionTimestamp()
	if deleted == nil {
		return saying{}
	}
	if c, told := status.OfDeletion(o); told {
		return saying{what: "condition " + c.Type, message: c.Message, ofDeletion: true, dated: true}
	}
	warnings := e.WarnedSince(ctx, o, deleted.Time)
	for _, w := range warnings {
		if status.SaysDeletion(w.Reason, w.Message) {
			return saying{what: "warning " + w.Reason, message: w.Message, ofDeletion: true, dated: true}
		}
	}
	if c, blocks := status.Blocks(o); blocks {
		return saying{what: "condition " + c.Type, message: c.Message, ofDeletion: true}
	}
	builtIn := cluster.BuiltIn(o.GroupVersionKind().Group)
	if c, failed := status.FailedSince(o); failed && !builtIn {
		return saying{what: "condition " + c.Type, message: c.Message, dated: true}
	}
	if len(warnings) > 0 && !(builtIn && o.GetKind() == "Pod") {
		return saying{what: "warning " + warnings[0].Reason, message: warnings[0].Message, dated: true}
	}
	for _, s := range status.Texts(o) {
		if status.SaysDeletion("", s.Text) && status.SaysFailure(s.Text) {
			return saying{what: s.Field, message: s.Text, ofDeletion: true}
		}
	}
	if builtIn {
		return saying{}
	}
	if w, waits := e.Waiting(ctx, o, deleted.Time); waits {
		return saying{what: "event " + w.Reason, message: w.Message, dated: true}
	}
	return saying{}
}

// older is what an object says of a failure, of which nobody knows that it came since the deletion:
// in its status, if it is a custom resource, or in an annotation.
func older(o *unstructured.Unstructured) saying {
	builtIn := cluster.BuiltIn(o.GroupVersionKind().Group)
	if c, fails := status.StillFailing(o); fails && !builtIn {
		return saying{what: "condition " + c.Type, message: c.Message}
	}
	if s := status.Fails(o); s.Text != "" && !builtIn {
		return saying{what: s.Field, message: s.Text}
	}
	if all := status.Annotated(o); len(all) > 0 {
		return saying{what: all[0].Field, message: all[0].Text}
	}
	return saying{}
}

// guarded is what a custom resource says by which it is not to be deleted.
func guarded(o *unstructured.Unstructured) saying {
	if s := status.Protected(o); s.Text != "" && !cluster.BuiltIn(o.GroupVersionKind().Group) {
		return saying{what: s.Field, message: s.Text, guards: true}
	}
	return saying{}
}

// unfinished is the stage of a custom resource in which something goes on with it that is no deletion:
// whoever cleans up may end that first (https://github.com/NVIDIA/doca-platform/issues/16).
func unfinished(o *unstructured.Unstructured) saying {
	if s := status.Unfinished(o); s.Text != "" && !cluster.BuiltIn(o.GroupVersionKind().Group) {
		return saying{what: s.Field, message: s.Text}
	}
	return saying{}
}

// lately is what the last condition says that has changed since the deletion, whatever it means, or
// else what a text of the status says of a deletion.
func (e *Examiner) lately(o *unstructured.Unstructured) (saying, []v1alpha1.Observation) {
	if cluster.BuiltIn(o.GroupVersionKind().Group) {
		return saying{}, nil
	}
	c, told := status.ToldSince(o)
	if !told {
		for _, s := range status.Texts(o) {
			if strings.Contains(s.Text, " ") && status.SaysDeletion("", s.Text) {
				return saying{what: s.Field, message: s.Text}, nil // which is evidence already
			}
		}
		return saying{}, nil
	}
	return saying{what: "condition " + c.Type, message: c.Message, dated: true}, core.ObservedAt(cluster.Place(o, c.Field), e.Quoted(c))
}

// sentence is what is said, empty if nothing is.
func (s saying) sentence() string {
	if s.what == "" {
		return ""
	}
	since := ""
	if s.dated {
		since = ", since the deletion"
	}
	return fmt.Sprintf("%s of the object says%s: %s", s.what, since, core.Brief(s.message))
}

// remedy is what to do where the actor of that name is alive. What may be old, or of another
// finalizer, promises nothing.
func (s saying) remedy(name string, only bool) string {
	if s.guards {
		return phrase.Sentence(name + " is alive, and may keep the object because of that: " + s.unguarded())
	}
	if !s.ofDeletion && !s.dated {
		return phrase.Sentence(fmt.Sprintf("find out by its log whether %s, which is alive, waits for what %s says", name, s.what))
	}
	if s.nameless() {
		return phrase.Sentence(name+" is alive, and tries again and again") + s.gone(name)
	}
	if !s.ofDeletion || !s.dated || !only {
		return phrase.Sentence(fmt.Sprintf("see to what %s says first: %s is alive, and may wait for that", s.what, name))
	}
	return phrase.Sentence(fmt.Sprintf("see to what %s says: %s is alive, and removes the finalizer once that is settled",
		s.what, name)) + s.gone(name)
}

// unguarded is what to do about an object that is not to be deleted by its own spec.
func (s saying) unguarded() string {
	return "to have it deleted, with everything that goes with it, change its " + s.what
}

// gone is what it may mean that an API answered that something does not exist, cannot, or is referred
// to; empty if none did.
func (s saying) gone(name string) string {
	if s.nameless() {
		return " An API answered it that a name is not valid. If that is the name of what the object stands for, nothing can have " +
			"been made under it, nothing is left to clean up, and the finalizer can be removed by hand."
	}
	switch text := s.message; {
	case !s.ofDeletion:
	case parentDeleted.MatchString(text):
		return " What it was in has been deleted, and unless that is restored everything in it went with it: nothing is left to clean " +
			"up then, and the finalizer can be removed by hand."
	case stillReferred.MatchString(text):
		return " Something in the cloud still depends on it: find that there, for example a rule of another security group or a " +
			"network interface, and remove it."
	case answered403.MatchString(text) && (!whyRefused.MatchString(text) || strings.Contains(text, "may not exist")):
		return fmt.Sprintf(" An API answered it 403, as some do as well for what is gone. Look there whether it still exists: if not, "+
			"nothing is left to clean up, and the finalizer can be removed; if it does, let %s delete it.", name)
	}
	if !s.ofDeletion || !status.AnswersNotFound(s.message) {
		return ""
	}
	return fmt.Sprintf(" An API answered it that something does not exist. Look there: if everything is gone, nothing is "+
		"left to clean up, and the finalizer can be removed; if something is there, %s looks in the wrong place.", name)
}

// parentDeleted is how an API says that the project or the like in which something was is gone
// (https://github.com/GoogleCloudPlatform/k8s-config-connector/issues/92), at the beginning of a
// clause: of a key in a project that was deleted it is not said that the project was.
var parentDeleted = regexp.MustCompile(
	`(?i)(?:^|[^\w\s]\s*)(?:the )?(?:project|subscription|resource group|organization) [#'"]?[\w./-]+['"]? (?:has been|was) (?:scheduled for deletion|deleted)\b`)

// answered403 is the answer of an API that something may not be done, which that of Google Cloud
// gives for an instance that is gone as well
// (https://github.com/GoogleCloudPlatform/k8s-config-connector/issues/6863). One that says why means
// that: what may not be done, that the API is not enabled
// (https://github.com/appvia/kore/issues/286), or that the credentials are no good.
var (
	answered403 = regexp.MustCompile(`(?i:\bstatus ?code(?:=|: ?| )403\b|\b(?:error|response) 403\b|\b403 forbidden\b)`)
	whyRefused  = regexp.MustCompile(`(?i)not authorized to|AccessDenied|AuthorizationFailed|UnauthorizedOperation|\bcannot [a-z]+ resource\b` +
		`|Permission '[^']+' denied|Required '[^']+' permission|accessNotConfigured|has not been used in project|\bbilling\b` +
		`|\b(?:rate ?limit|quota) ?exceeded|ExpiredToken|InvalidClientTokenId|SignatureDoesNotMatch|InvalidAccessKeyId`)
)

// stillReferred is how a cloud says that something else depends on what is to be deleted, and its
// controller that a security group stays (https://github.com/kubernetes/cloud-provider-aws/issues/566).
var stillReferred = regexp.MustCompile(`\bDependencyViolation\b|\bhas a dependent object\b|(?i:\bcould not delete security groups?\b)`)

// unknown puts what the object says into the finding about an actor of which nobody knows whether
// it lives: that it is paused, or what keeps it. What may be old says less than that the actor is
// scaled to 0.
func (e *Examiner) unknown(ctx context.Context, b core.Responsible, f core.Finding) core.Finding {
	var says, remedy string
	switch s, old, guard := e.said(ctx, b.Object), older(b.Object), guarded(b.Object); {
	case len(b.Pauses) > 0 && (!b.Pauses[0].Custom || s.what == ""):
		p := b.Pauses[0]
		says, remedy = ofTheObject(p.Says(b.Object)), "if the object is not meant to be ignored, end the pause"
		if p.Custom {
			says, remedy = says+", which may be a pause", "if it is one, and the object is not meant to be ignored, end it"
		}
		if to := moved(p); to != "" {
			remedy += "." + strings.TrimSuffix(to, ".")
		}
	case s.what != "":
		says, remedy = s.sentence(), "see to what "+s.what+" says"
		if gone := s.gone("it"); gone != "" {
			remedy += "." + strings.TrimSuffix(gone, ".")
		}
	case f.Sentence != "":
		return f
	case old.what != "":
		says, remedy = old.sentence(), "find out whether it waits for what "+old.what+" says"
	case guard.what != "":
		says, remedy = guard.sentence(), guard.unguarded()
	default:
		return f
	}
	f.Sentence, f.Remedy = unsure(b)+"; "+says, phrase.Sentence(remedy)+" "+f.Usual()
	return f
}

// unsure says, as a clause, what is not known of an actor.
func unsure(b core.Responsible) string {
	if b.Who == "" {
		return "it is not known who removes the finalizer"
	}
	return "it is not known whether " + b.Who + ", which must remove this finalizer, is alive"
}

// livesOutside returns what may be a sign of life of an actor that cannot be seen where it runs: a
// warning about the deletion of an object that has no finalizer but its own, a moment ago. Others
// warn as well: it is one if the actor is called like whoever recorded it.
func (e *Examiner) livesOutside(ctx context.Context, o *unstructured.Unstructured, a actor.Actor) (
	sign []v1alpha1.Observation, lives bool) {
	deleted := o.GetDeletionTimestamp()
	if a.Life != actor.Unknown || !a.IsKnown || !a.Outside || a.Found || deleted == nil || len(o.GetFinalizers()) != 1 {
		return nil, false
	}
	for _, w := range e.WarnedSince(ctx, o, deleted.Time) {
		if ago := e.Now.Sub(w.Last); ago < finishing && status.SaysDeletion(w.Reason, w.Message) {
			sign = core.ObservedAt(cluster.Place(w.Event, ""), fmt.Sprintf("whoever recorded warning %s about its deletion "+
				"was alive %s ago", w.Reason, phrase.Ago(ago)))
			if calledLike(w.Recorder(), a) {
				return sign, true
			}
		}
	}
	return sign, false
}

// calledLike reports whether whoever records events under a name is an actor: what the name says
// beside that it is a controller is said in the finalizer or in the name of the component as well.
func calledLike(recorder string, a actor.Actor) bool {
	words := func(text string) []string {
		return strings.FieldsFunc(strings.ToLower(text),
			func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	own := slices.DeleteFunc(words(recorder),
		func(word string) bool { return slices.Contains([]string{"controller", "manager", "operator"}, word) })
	names := words(a.Finalizer + " " + a.Known.Component)
	return len(own) > 0 && !slices.ContainsFunc(own, func(word string) bool { return !slices.Contains(names, word) })
}
