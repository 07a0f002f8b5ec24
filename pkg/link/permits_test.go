package link

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestPermits: of ends in a namespace all kinds are permitted where no list says which, of others
// none; a list that is empty permits none; and what is denied is not permitted. A namespace that
// the list of them does not have, or denies, is not permitted either.
func TestPermits(t *testing.T) {
	t.Parallel()
	var p Permits
	if err := yaml.UnmarshalStrict([]byte(`{group: argoproj.io, kind: AppProject, nameField: spec.project, name: default,
  namespaceField: status.in,
  namespaced: {allow: spec.allow, all: true, deny: spec.deny}, cluster: {allow: spec.clusterAllow, deny: spec.clusterDeny}}`),
		&p); err != nil {
		t.Fatal(err)
	}
	secret := graph.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "web"}
	role := graph.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "web"}
	for spec, want := range map[string][2]bool{
		"{}":          {true, false},
		"{allow: []}": {false, false},
		"{allow: [{group: '', kind: Sec*}], clusterAllow: [{group: '*', kind: '*'}]}":                  {true, true},
		"{allow: [{group: apps, kind: Secret}], clusterAllow: [{group: '*', kind: '*', name: other}]}": {false, false},
		"{deny: [{group: '', kind: Secret}], clusterAllow: [{group: '*', kind: '*', name: w*}]}":       {false, true},
		"{clusterAllow: [{group: '*', kind: '*'}], clusterDeny: [{group: '*.k8s.io', kind: '*'}]}":     {true, false},
	} {
		var object map[string]any
		if err := yaml.Unmarshal([]byte("spec: "+spec), &object); err != nil {
			t.Fatal(err)
		}
		ofSecret, _ := p.Denied(object, secret)
		ofRole, _ := p.Denied(object, role)
		if got := [2]bool{ofSecret == "", ofRole == ""}; got != want {
			t.Errorf("%s permits %v, want %v", spec, got, want)
		}
	}
	source := map[string]any{"spec": map[string]any{"project": "x"}, "status": map[string]any{"in": "argo"}}
	if got := p.NameOf(map[string]any{}) + p.NamespaceOf(map[string]any{}, "own") + p.NameOf(source) +
		p.NamespaceOf(source, "own"); got != "defaultownxargo" {
		t.Errorf("the names are %s", got)
	}

	if err := yaml.UnmarshalStrict([]byte(`{list: spec.to, server: "https://k", name: here}`), &p.Places); err != nil {
		t.Fatal(err)
	}
	unsure := map[string]bool{
		"[]": true,
		"[{name: there, namespace: '*'}, {server: 'https://other', namespace: '*'}]": true,
		"[{server: '*', namespace: '{shop,other}'}]":                                 true,
		"[{server: '*', namespace: '[!a]hop'}]":                                      true,
		"[{server: '*', namespace: '*'}, {server: '*', namespace: '!{shop,other}'}]": true,
		"[{server: '!https://[k]', namespace: '*'}, {server: '*', namespace: '*'}]":  true,
		"[{server: '*', namespace: '!{a,b}'}]":                                       true,
	}
	for list, want := range map[string]bool{
		"[{server: '*', namespace: '{shop,other}'}]":                                    false,
		"[{server: '*', namespace: '[!a]hop'}]":                                         false,
		"[{name: there, namespace: other}]":                                             false,
		"[{server: '*', namespace: '{shop,other}'}, {server: '*', namespace: '!shop'}]": false,
		"[{server: '*', namespace: '*'}, {server: '*', namespace: '!{shop,other}'}]":    false,
		"[{server: '!https://[k]', namespace: '*'}, {server: '*', namespace: '*'}]":     false,
		"[{server: '*', namespace: '!{a,b}'}]":                                          false,
		"[{server: '*', namespace: '*'}, {server: '*', namespace: '{a,b}'}]":            true,
		"[]":                                 false,
		"[{server: https*, namespace: sh*}]": true,
		"[{server: '*', namespace: other}]":  false,
		"[{name: here, namespace: '*'}]":     true,
		"[{name: there, namespace: '*'}, {server: 'https://other', namespace: '*'}]":             false,
		"[{server: '*', namespace: '*'}, {server: 'https://k', namespace: '!shop'}]":             false,
		"[{server: '*', namespace: '*'}, {server: 'https://k', namespace: '!other'}]":            true,
		"[{server: '*', namespace: '*'}, {server: '!https://k', namespace: '*'}]":                false,
		"[{server: '*', namespace: '*'}, {name: '!here', namespace: other}]":                     true,
		"[{server: 'https://k', namespace: '*'}, {server: 'https://other', namespace: '!shop'}]": true,
	} {
		var object map[string]any
		if err := yaml.Unmarshal([]byte("spec: {to: "+list+", clusterAllow: [{group: '*', kind: '*'}]}"), &object); err != nil {
			t.Fatal(err)
		}
		says := map[bool]string{false: "namespace shop"}[want]
		got, sure := p.Denied(object, secret)
		if ofRole, _ := p.Denied(object, role); got != says || ofRole != "" || sure == unsure[list] {
			t.Errorf("%s denies %q, sure %t, want %q", list, got, sure, says)
		}
	}
}
