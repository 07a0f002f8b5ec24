// Package status reads the conditions and the messages in the status of an object. It is pure, and
// it takes objects as they come: a custom resource may have anything where a condition is expected.
package status

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Said is a text of a status, and the field in which it stands.
type Said struct{ Field, Text string }

// errorFields are fields of a status that are there only if something is wrong. Where one is no
// text, its message is meant.
var errorFields = []string{
	"error", "errorMessage", "errorReason", "lastError", "lastErrorMessage", "lastReconcileError", "lastSyncError",
	"lastErrors", "errors",
	"failureReason", "failureMessage", "deletionError", "syncError", "operationError",
}

// noError is what such a field says where nothing is wrong.
var noError = regexp.MustCompile(`(?i)^((no )?(errors?|failures?)|none|nil|null|<nil>|<none>|false|0|ok)?$`)

// stated are the fields of a status that are read as what they are called.
var stated = []string{"phase", "state", "reason", "message"}

// stageKey is how a field of a status is called that has a stage, of something that words before it
// name: PostgresClusterStatus of Zalando, pool_status of Mayastor.
var stageKey = regexp.MustCompile(`(?:[a-z0-9](?:Phase|State|Status)|_(?:phase|state|status))$`)

// isFailure reports whether a text is a sentence that speaks of a failure, and no JSON.
func isFailure(text string) bool {
	return strings.Contains(text, " ") && !strings.ContainsAny(text[:1], "{[") && SaysFailure(text)
}

// Texts returns what a status says of a failure besides its conditions: the texts of an error, a
// phase that names a failure, its reason and message unless a phase says that all is well, and other
// sentences that speak of one.
func Texts(o *unstructured.Unstructured) []Said {
	s, _, _ := unstructured.NestedFieldNoCopy(o.Object, "status")
	m, _ := s.(map[string]any)
	if m == nil {
		return nil
	}
	var all []Said
	for _, key := range errorFields {
		all = append(all, texts("status."+key, m[key])...)
	}
	well := false
	for _, key := range []string{"phase", "state"} {
		switch phase := Text(m, key); {
		case namesFailure(phase), isFailure(phase):
			all = append(all, Said{"status." + key, phase})
		case namesHealth(phase):
			well = true
		}
	}
	for _, key := range []string{"reason", "message"} {
		if text := Text(m, key); text != "" && (!well || SaysFailure(text)) {
			all = append(all, Said{"status." + key, text})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		text := Text(m, key)
		if !slices.Contains(stated, key) && !slices.Contains(errorFields, key) &&
			(isFailure(text) || stageKey.MatchString(key) && namesFailure(text)) {
			all = append(all, Said{"status." + key, text})
		}
	}
	return append(append(all, nested(m)...), parts(m)...)
}

// past are the fields of a status in which is what was.
var past = regexp.MustCompile(`(?i)histor|previous|events$`)

// over is how a status says of a part that nothing is to be done about it any more.
var over = regexp.MustCompile(`(?i)^(?:deleted|done|finished|gone|removed|released|skipped|terminated|uninstalled|cleaned ?up)\b`)

// parts are the sentences that speak of a failure in what a status says of each of several: of clusters,
// regions or parts, as a list or as a map.
func parts(status map[string]any) (all []Said) {
	for _, key := range slices.Sorted(maps.Keys(status)) {
		read := slices.Contains(errorFields, key) || slices.ContainsFunc(deeper, func(at deep) bool { return at.key == key })
		if read || past.MatchString(key) || strings.HasSuffix(strings.ToLower(key), "conditions") {
			continue
		}
		switch v := status[key].(type) {
		case []any:
			for i, item := range v {
				m, _ := item.(map[string]any)
				name := cmp.Or(Text(m, "name"), Text(m, "clusterName"), Text(m, "cluster"), strconv.Itoa(i))
				all = append(all, part(fmt.Sprintf("status.%s[%s]", key, name), item)...)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				all = append(all, part("status."+key+"."+name, v[name])...)
			}
		}
	}
	return all
}

// part are the sentences in what a status says of one part, unless that is well or over.
func part(field string, value any) (all []Said) {
	if text, _ := value.(string); isFailure(text) && !over.MatchString(text) {
		return []Said{{field, text}}
	}
	m, _ := value.(map[string]any)
	if isWell(m) {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if text := Text(m, key); isFailure(text) {
			all = append(all, Said{field + "." + key, text})
		}
	}
	conditions, _ := m["conditions"].([]any)
	for _, item := range conditions {
		of, _ := item.(map[string]any)
		c := condition(field+".conditions", Text(of, "type"), of)
		if c.fails() && c.Message != "" && SaysFailure(c.Reason, c.Message) {
			all = append(all, Said{c.Field, c.Message})
		}
	}
	return all
}

// isWell reports whether a part of a status is said to be well, or over: by its stage, by a flag,
// or by conditions of which none fails.
func isWell(m map[string]any) bool {
	for _, key := range []string{"phase", "state", "status"} {
		if stage := Text(m, key); stage != "" && (namesHealth(stage) || over.MatchString(stage)) {
			return true
		}
	}
	for _, key := range []string{"ready", "healthy", "done", "deleted", "finished", "completed", "removed"} {
		if is, _ := m[key].(bool); is {
			return true
		}
	}
	well, fails := false, false
	conditions, _ := m["conditions"].([]any)
	for _, item := range conditions {
		of, _ := item.(map[string]any)
		c := condition("", Text(of, "type"), of)
		well, fails = well || c.polarity() == wellIfTrue && c.Status == "True", fails || c.fails()
	}
	return well && !fails
}

// deep is where a status has a state and a text one level deeper.
type deep struct{ key, state, text string }

var deeper = []deep{
	{"operationState", "phase", "message"}, {"health", "status", "message"}, {"lastOperation", "state", "description"},
}

// nested are what Argo CD, Gardener and Kyma say of an object one level deeper, where it is a
// failure. What Kyma calls the operation is its message
// (https://github.com/kyma-project/lifecycle-manager/issues/2314).
func nested(status map[string]any) []Said {
	var all []Said
	for _, at := range deeper {
		m, _ := status[at.key].(map[string]any)
		if text := Text(m, at.text); text != "" && namesFailure(Text(m, at.state)) {
			all = append(all, Said{"status." + at.key + "." + at.text, text})
		}
	}
	last, _ := status["lastOperation"].(map[string]any)
	if text := Text(last, "operation"); text != "" && isFailure(text) {
		all = append(all, Said{"status.lastOperation.operation", text})
	}
	return all
}

// texts returns what a field says: a text, the message of an object, or those of a list.
func texts(field string, value any) []Said {
	switch v := value.(type) {
	case string:
		if !noError.MatchString(v) {
			return []Said{{field, v}}
		}
	case map[string]any:
		for _, key := range []string{"message", "description", "reason"} {
			if text := Text(v, key); text != "" {
				return []Said{{field + "." + key, text}}
			}
		}
	case []any:
		var all []Said
		for _, item := range v {
			all = append(all, texts(field, item)...)
		}
		return all
	}
	return nil
}

// namesFailure reports whether a phase is one of a failure: Failed, DeleteError, DELETE_FAILED.
func namesFailure(phase string) bool { return polarityOf(phase) == wellIfFalse }

// polarityOf is that of the condition whose type a phase is, written as that would be: DELETE_FAILED
// is DeleteFailed, and ready is Ready.
func polarityOf(phase string) polarity {
	var name strings.Builder
	for _, word := range strings.FieldsFunc(phase, func(r rune) bool { return r == '_' || r == '-' }) {
		if strings.ToUpper(word) == word {
			word = strings.ToLower(word)
		}
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return (Condition{Type: name.String()}).polarity()
}

// namesHealth reports whether a phase is one of an object that is well.
func namesHealth(phase string) bool {
	switch strings.ToLower(phase) {
	case "active", "bound", "running", "complete", "completed", "ok", "online", "normal", "serving", "listening",
		"streaming", "replicating", "leading":
		return true
	}
	return polarityOf(phase) == wellIfTrue
}

// unsettled is what the stage of an object is called that is not up, or not yet.
var unsettled = regexp.MustCompile(`(?i)(ing|failed|error|stopped|suspended|paused|hibernated|offline|disconnected|down|unknown|lost)$`)

// IsUnsettled reports whether a stage is one of an object that is not up, or not yet: Installing,
// Stopped, Failed. What a stage that is not known means is not known.
func IsUnsettled(stage string) bool {
	return namesFailure(stage) || SaysFailure(stage) || unsettled.MatchString(stage) && !namesHealth(stage)
}

// Fails returns the first text of a status besides its conditions that says of itself that it is a
// failure: a sentence that speaks of one, or if there is none, a phase that names one. It is empty if
// there is neither.
func Fails(o *unstructured.Unstructured) Said {
	all := slices.DeleteFunc(Texts(o), func(s Said) bool { return !namesFailure(s.Text) && !SaysFailure(s.Text) })
	if len(all) == 0 {
		return Said{}
	}
	return all[max(0, slices.IndexFunc(all, func(s Said) bool { return strings.Contains(s.Text, " ") }))]
}

// goingOn is what a stage is called, its words apart, in which something is done that has an end
// and is no deletion, or in which an object is out of reach.
var goingOn = regexp.MustCompile(`(?i)\b(?:bootstrapp|build|clon|copy|creat|deploy|download|expand|export|flash|import|initiali[sz]|` +
	`install|migrat|provision|rebuild|resiz|restor|scal|sync|updat|upgrad|upload)ing$|^(?:offline|disconnected|unreachable|unknown|lost)$`)

// Unfinished returns the stage of an object in which something goes on with it that is no deletion,
// as OS Installing, or in which it is out of reach. It is empty if there is none.
func Unfinished(o *unstructured.Unstructured) Said {
	if s := Stage(o); goingOn.MatchString(camel.ReplaceAllString(s.Text, "$1 $2")) {
		return s
	}
	return Said{}
}

// Stage returns what a status calls the stage in which its object is, as Reconciling, whatever the
// field is called, and rather that than the stage of a part of it. What says only that the object
// is being deleted comes last. It is empty if it says nothing of that, or that all is well.
func Stage(o *unstructured.Unstructured) (last Said) {
	told, _, _ := unstructured.NestedMap(o.Object, "status")
	keys := slices.Sorted(maps.Keys(told))
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(ofPart(a), ofPart(b)) })
	for _, key := range keys {
		text, field := Text(told, key), "status."+key
		if m, isMap := told[key].(map[string]any); isMap { // as that of a Harbor of mittwald.de
			text, field = Text(m, "name"), field+".name"
		}
		switch {
		case text == "" || namesHealth(text) || ofPart(key) > 0 && !stageKey.MatchString(key):
		case !SaysDeletion("", text):
			return Said{field, text}
		case last.Text == "":
			last = Said{field, text}
		}
	}
	return last
}

// ofPart is 0 for the key of a stage of the whole object, and 1 for any other.
func ofPart(key string) int {
	if slices.Contains([]string{"phase", "state", "status"}, strings.ToLower(key)) {
		return 0
	}
	return 1
}
