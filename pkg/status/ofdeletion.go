package status

import (
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// deletionSaid is what a reason, split into words, or a message says of a deletion.
var deletionSaid = regexp.MustCompile(
	`(?i)\b(delet(e|ed|es|ing|ion)|terminat(e|ed|es|ing|ion)|finali[sz](e|er|ers|ing)|drain(ed|ing)?|destroy(ed|ing)?|uninstall(ed|ing)?|clean(ing)? ?up)\b`)

// OfDeletion returns the condition in which an object tells of its deletion: one that is True or
// False since then, those that fail first. It is false if there is none: what was said before is
// about something else.
func OfDeletion(o *unstructured.Unstructured) (Condition, bool) {
	deleted := o.GetDeletionTimestamp()
	if deleted == nil {
		return Condition{}, false
	}
	for _, c := range slices.Concat(Failing(o), Conditions(o)) {
		if c.Message != "" && (c.Status == "True" || c.Status == "False") && !c.Since.Before(deleted.Time) &&
			(c.polarity() == tellsOfDeletion ||
				deletionSaid.MatchString(camel.ReplaceAllString(c.Reason, "$1 $2")+" "+c.Message)) {
			return c, true
		}
	}
	return Condition{}, false
}
