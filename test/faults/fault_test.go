package faults

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
)

// fault is one wrong answer.
type fault struct {
	name string
	// fits says for which requests it is one. Nil means all but watches.
	fits func(request) bool
	of   func(request) faultproxy.Fault
	// lie means that nobody could tell the answer from the truth. What the command then says is not
	// held against it, what it does is.
	lie bool
	// slow faults cost seconds.
	slow bool
}

func (f fault) on(q request) bool {
	if f.fits == nil {
		return q.class != watch
	}
	return f.fits(q)
}

// same is a fault that is the same for every request.
func same(f faultproxy.Fault) func(request) faultproxy.Fault {
	return func(request) faultproxy.Fault { return f }
}

func of(classes ...class) func(request) bool {
	return func(q request) bool { return slices.Contains(classes, q.class) }
}

func anywhere(request) bool { return true }

// faults are the wrong answers, in the order in which a sample takes them.
var faults = []fault{
	{name: "403", fits: anywhere, of: same(faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden,
		"you may not"))},
	{name: "404 plain", fits: anywhere, of: same(faultproxy.Plain(http.StatusNotFound, "404 page not found\n"))},
	{name: "404 of nothing", fits: anywhere,
		of: same(faultproxy.Status(http.StatusNotFound, metav1.StatusReasonNotFound,
			"the server could not find the requested resource"))},
	{name: "404 of another", fits: of(get, write),
		of: func(q request) faultproxy.Fault { return notFound(q.group, q.resource, q.name+"-another") }},
	{name: "404 of another type", fits: of(get, write),
		of: func(q request) faultproxy.Fault { return notFound("another.example.com", "others", q.name) }},
	{name: "404 of itself", fits: func(q request) bool { return q.class == write && q.name != "" }, lie: true,
		of: func(q request) faultproxy.Fault { return notFound(q.group, q.resource, q.name) }},
	{name: "409", of: same(faultproxy.Status(http.StatusConflict, metav1.StatusReasonConflict,
		"the object has been modified; please apply your changes to the latest version"))},
	{name: "410", fits: anywhere, of: same(faultproxy.Status(http.StatusGone, metav1.StatusReasonExpired,
		"the provided resource version is too old"))},
	{name: "422", fits: of(write),
		of: same(faultproxy.Status(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid,
			"the server rejected our request due to an error in our request"))},
	{name: "429", fits: anywhere, of: same(faultproxy.RetryAfter(1)), slow: true},
	{name: "500", fits: anywhere, of: same(faultproxy.Status(http.StatusInternalServerError,
		metav1.StatusReasonInternalError, "an internal error"))},
	{name: "502", fits: anywhere, of: same(faultproxy.Plain(http.StatusBadGateway,
		"<html><body>bad gateway</body></html>"))},
	{name: "reset", fits: anywhere, of: same(faultproxy.Reset())},
	{name: "hang", fits: anywhere, of: same(faultproxy.Hang()), slow: true},
	{name: "truncated", of: same(faultproxy.Truncate(40))},
	{name: "done and reset", fits: of(write), of: same(faultproxy.Truncate(0))},
	{name: "200 of an empty List", fits: anywhere,
		of: same(ok("application/json", `{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`))},
	{name: "200 of {}", fits: anywhere, of: same(ok("application/json", "{}"))},
	{name: "200 of nothing", fits: anywhere, of: same(ok("application/json", ""))},
	{name: "200 of HTML", fits: anywhere, of: same(ok("text/html", "<html><body>Please log in</body></html>"))},
	{name: "expired in the stream", fits: of(watch), of: same(ok("application/json",
		`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old resource version"}}`+"\n"))},
	{name: "nothing discovered", fits: of(discovery), of: same(discovered(func([]any) []any { return []any{} }))},
	{name: "nothing of the type", fits: of(discovery),
		of: same(edited(func(groupVersion map[string]any) { groupVersion["resources"] = []any{} }, ""))},
	{name: "no coordination.k8s.io", fits: groups, of: same(without("coordination.k8s.io"))},
	{name: "coordination.k8s.io empty", fits: groups, of: same(emptied("coordination.k8s.io"))},
	{name: "no " + crdGroup, fits: groups, of: same(without(crdGroup))},
	{name: crdGroup + " empty", fits: groups, of: same(emptied(crdGroup))},
	{name: "no rbac.authorization.k8s.io", fits: groups, of: same(without("rbac.authorization.k8s.io"))},
	{name: "rbac.authorization.k8s.io empty", fits: groups, of: same(emptied("rbac.authorization.k8s.io"))},
	{name: "no apiextensions.k8s.io", fits: groups, of: same(without("apiextensions.k8s.io"))},
	{name: "apiextensions.k8s.io empty", fits: groups, of: same(emptied("apiextensions.k8s.io"))},
	{name: "no apiregistration.k8s.io", fits: groups, of: same(without("apiregistration.k8s.io"))},
	{name: "apiregistration.k8s.io empty", fits: groups, of: same(emptied("apiregistration.k8s.io"))},
	{name: "v1 empty", fits: func(q request) bool { return q.class == discovery && strings.HasSuffix(q.key, "/api") },
		of: same(emptied(""))},
}

// groups reports whether a request asks which groups there are.
func groups(q request) bool { return q.class == discovery && strings.HasSuffix(q.key, "/apis") }

func notFound(group, resource, name string) faultproxy.Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
			Message: resource + " \"" + name + "\" not found",
			Details: &metav1.StatusDetails{Name: name, Group: group, Kind: resource},
		})
	}
}

func ok(contentType, body string) faultproxy.Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

// discovered changes the groups of discovery's answer.
func discovered(change func([]any) []any) faultproxy.Fault {
	return faultproxy.Edit(func(v any) any {
		m, _ := v.(map[string]any)
		for _, field := range []string{"items", "groups", "resources", "versions"} {
			if items, is := m[field].([]any); is {
				m[field] = change(items)
			}
		}
		return m
	})
}

// without takes a group out.
func without(group string) faultproxy.Fault {
	return discovered(func(items []any) []any {
		return slices.DeleteFunc(items, func(item any) bool { return groupName(item) == group })
	})
}

// emptied leaves the versions of a group without a resource, and says that this is current.
func emptied(group string) faultproxy.Fault {
	return edited(func(groupVersion map[string]any) { groupVersion["resources"] = []any{} }, group)
}

// edited changes the versions of a group; without a group those of all of them.
func edited(change func(map[string]any), group string) faultproxy.Fault {
	return discovered(func(items []any) []any {
		for _, item := range items {
			g, _ := item.(map[string]any)
			versions, _ := g["versions"].([]any)
			for _, version := range versions {
				if v, is := version.(map[string]any); is && (group == "" || groupName(item) == group) {
					change(v)
				}
			}
		}
		return items
	})
}

func groupName(item any) string {
	g, _ := item.(map[string]any)
	if name, is := g["name"].(string); is { // without aggregation
		return name
	}
	metadata, _ := g["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return name
}
