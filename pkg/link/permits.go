package link

import (
	"cmp"
	"path"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Permits is an object without whose permission the program leaves an end alone.
type Permits struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	// NameField is where the source has its name, and Name is what an empty field means.
	NameField Path   `json:"nameField"`
	Name      string `json:"name,omitempty"`
	// NamespaceField is where the source has its namespace; without one, or if the field is empty, it
	// is in that of the source.
	NamespaceField Path `json:"namespaceField,omitempty"`
	// Namespaced and Cluster are its lists of the kinds of ends that are in a namespace and of
	// others.
	Namespaced KindLists `json:"namespaced"`
	Cluster    KindLists `json:"cluster"`
	// Places is its list of the namespaces of ends; nil if it has none.
	Places *Places `json:"places,omitempty"`
}

// Places is a list of a namespace, and of the server or the name of its cluster, in which * stands
// for any text. One that begins with ! is for all others, and denies what it excepts.
type Places struct {
	List Path `json:"list"`
	// Server and Name are those of this cluster.
	Server string `json:"server"`
	Name   string `json:"name"`
}

// KindLists are lists of a group, a kind and perhaps a name, in which * stands for any text. What
// Deny has is not permitted.
type KindLists struct {
	// Allow is where those stand that are permitted. All says that all are where it is missing.
	Allow Path `json:"allow"`
	All   bool `json:"all,omitempty"`
	Deny  Path `json:"deny"`
}

// NameOf returns the name of the object that permits what the program does for a source.
func (p *Permits) NameOf(source map[string]any) string {
	name, _ := p.NameField.Text(source)
	return cmp.Or(name, p.Name)
}

// NamespaceOf returns the namespace of the object that permits what the program does for a source.
func (p *Permits) NamespaceOf(source map[string]any, own string) string {
	namespace, _ := p.NamespaceField.Text(source)
	return cmp.Or(namespace, own)
}

// Denied says what of an end an object does not permit the program to delete; empty if it permits it.
// It is not sure where the list of places may mean more than is understood.
func (p *Permits) Denied(object map[string]any, end graph.Ref) (what string, sure bool) {
	lists := p.Cluster
	if end.Namespace != "" {
		lists = p.Namespaced
	}
	allowed := lists.Allow.all(object)
	listed := len(allowed) == 0 && lists.All || lists.Allow.lists(object, end)
	switch {
	case !listed || lists.Deny.lists(object, end):
		return end.Kind, true
	case end.Namespace == "" || p.Places == nil:
		return "", true
	}
	have, sure := p.Places.have(object, end.Namespace)
	if !have {
		what = "namespace " + end.Namespace
	}
	return what, sure
}

// have reports whether the list of an object has a namespace of this cluster and does not deny it.
// What is not listed may be all the same: by a name that this cluster may have, too, by a pattern
// of another form, or where the list is empty by another object, which the program adds to it. What
// is listed may be denied by such a pattern.
func (p *Places) have(object map[string]any, namespace string) (have, sure bool) {
	listed, sure, doubted := false, false, false
	for _, list := range p.List.all(object) {
		items, _ := list.([]any)
		sure = len(items) > 0
		for _, item := range items {
			m, _ := item.(map[string]any)
			if permits, denies := foreign(m); permits || denies {
				sure, doubted = false, doubted || denies
				continue
			}
			server, noServer := place(m["server"], p.Server)
			name, noName := place(m["name"], p.Name)
			in, notIn := place(m["namespace"], namespace)
			if in && !server && !name && (noServer || noName) || notIn && server {
				return false, true
			}
			listed = listed || in && (server || name)
			other, _ := m["name"].(string)
			sure = sure && !(in && other != "" && !name && !noName)
		}
	}
	return listed && !doubted, (listed || sure) && !doubted
}

// foreign reports whether a place has a pattern of alternatives or classes, which like does not
// know, so that it may permit what it is about; and whether it may deny it.
func foreign(place map[string]any) (is, denies bool) {
	for _, key := range []string{"server", "name", "namespace"} {
		p, _ := place[key].(string)
		is = is || strings.ContainsAny(p, "{[")
		denies = denies || strings.HasPrefix(p, "!")
	}
	return is, is && denies
}

// place reports whether a place is as a pattern says, or denied by it.
func place(pattern any, text string) (is, denied bool) {
	p, _ := pattern.(string)
	if except, not := strings.CutPrefix(p, "!"); not {
		denied = like(except, text)
		return !denied, denied
	}
	return like(p, text), false
}

// lists reports whether one of the lists there has an object.
func (p Path) lists(object map[string]any, ref graph.Ref) bool {
	for _, list := range p.all(object) {
		items, _ := list.([]any)
		for _, item := range items {
			m, _ := item.(map[string]any)
			name, _ := m["name"].(string)
			if like(m["group"], ref.Group()) && like(m["kind"], ref.Kind) && (name == "" || like(name, ref.Name)) {
				return true
			}
		}
	}
	return false
}

// like reports whether a text is as a pattern says.
func like(pattern any, text string) bool {
	p, _ := pattern.(string)
	slashes := strings.NewReplacer("/", "|") // which * would not stand for
	ok, err := path.Match(slashes.Replace(p), slashes.Replace(text))
	return ok && err == nil
}
