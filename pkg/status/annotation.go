package status

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// saysInKey are annotations whose key says that they have a message.
var saysInKey = regexp.MustCompile(`(?i)(^|[-_./])(last-?)?(error|failure|message|reason)$`)

// Annotated returns what annotations of an object say of a failure: those whose key says that they
// have a message, but that of a commit, as of the actions-runner-controller
// (https://github.com/actions/actions-runner-controller/issues/3010), and what kopf keeps of a
// handler that is to be tried again (https://docs.kopf.dev/en/stable/continuity/).
func Annotated(o *unstructured.Unstructured) []Said {
	var all []Said
	annotations := o.GetAnnotations()
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		text := strings.TrimSpace(annotations[key])
		field := "annotation " + key
		var handler struct {
			Success *bool
			Message string
		}
		switch {
		case strings.HasPrefix(text, "{"):
			if json.Unmarshal([]byte(text), &handler) == nil && handler.Success != nil && !*handler.Success &&
				handler.Message != "" {
				all = append(all, Said{field, handler.Message})
			}
		case saysInKey.MatchString(key) && strings.Contains(text, " ") && !strings.Contains(strings.ToLower(key), "commit") &&
			(SaysFailure(text) || SaysFailure(key) && !noFailure.MatchString("error: "+text)):
			all = append(all, Said{field, text})
		}
	}
	return all
}
