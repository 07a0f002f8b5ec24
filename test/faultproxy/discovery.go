package faultproxy

import (
	"net/http"
	"slices"
	"strings"
)

// Groups matches the request for all API groups but the core group.
func Groups(r *http.Request) bool { return r.URL.Path == "/apis" }

// Core matches the request for the core group.
func Core(r *http.Request) bool { return r.URL.Path == "/api" }

// EmptyVersion shows a version of a group as current and without resources in an aggregated
// discovery document, in addition to the others if it is not there.
func EmptyVersion(group, version string) Fault {
	empty := map[string]any{"version": version, "resources": []any{}, "freshness": "Current"}
	return Edit(func(v any) any {
		for _, g := range items(v) {
			if nameOf(g) != group {
				continue
			}
			versions, _ := g["versions"].([]any)
			versions = slices.DeleteFunc(versions, func(v any) bool { return v.(map[string]any)["version"] == version })
			g["versions"] = append([]any{empty}, versions...)
			return v
		}
		list := v.(map[string]any)
		list["items"] = append(list["items"].([]any),
			map[string]any{"metadata": map[string]any{"name": group}, "versions": []any{empty}})
		return v
	})
}

// WithoutGroup leaves a group out of a discovery document, aggregated or not.
func WithoutGroup(group string) Fault {
	return Edit(func(v any) any {
		list := v.(map[string]any)
		for _, key := range []string{"items", "groups"} {
			if all, ok := list[key].([]any); ok {
				list[key] = slices.DeleteFunc(all, func(g any) bool { return nameOf(g.(map[string]any)) == group })
			}
		}
		return v
	})
}

// WithoutResource leaves a resource of a group out of an aggregated discovery document, in all
// versions.
func WithoutResource(group, resource string) Fault {
	return Edit(func(v any) any {
		for _, g := range items(v) {
			if nameOf(g) != group {
				continue
			}
			for _, version := range g["versions"].([]any) {
				version := version.(map[string]any)
				all, _ := version["resources"].([]any)
				version["resources"] = slices.DeleteFunc(all,
					func(r any) bool { return r.(map[string]any)["resource"] == resource })
			}
		}
		return v
	})
}

// NoGroups answers with a discovery document that has no group in it, in the format that is asked
// for.
func NoGroups() Fault {
	return Edit(func(v any) any {
		list := v.(map[string]any)
		for _, key := range []string{"items", "groups", "versions"} {
			if _, ok := list[key]; ok {
				list[key] = []any{}
			}
		}
		return v
	})
}

// LegacyDiscovery has the server answer as one that does not aggregate its discovery.
func LegacyDiscovery() Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.Header.Get("Accept"), "as=APIGroupDiscoveryList") {
			r.Header.Set("Accept", "application/json")
		}
		next.ServeHTTP(w, r)
	}
}

// items are the groups of an aggregated discovery document.
func items(v any) []map[string]any {
	list, _ := v.(map[string]any)["items"].([]any)
	all := make([]map[string]any, len(list))
	for i, item := range list {
		all[i] = item.(map[string]any)
	}
	return all
}

// nameOf is the name of a group in either format. That of the core group is not written.
func nameOf(group map[string]any) string {
	if meta, ok := group["metadata"].(map[string]any); ok {
		name, _ := meta["name"].(string)
		return name
	}
	name, _ := group["name"].(string)
	return name
}

// Version has the server say that it is of another version, as v1.29.15.
func Version(gitVersion string) Fault {
	return Edit(func(v any) any {
		v.(map[string]any)["gitVersion"] = gitVersion
		return v
	})
}
