// Package k9s tests the plugins for k9s: they are what k9s' schema allows, and the commands that
// k9s makes of them do what they say.
package k9s

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.Controllers("namespace-controller")) }

// file is a file of plugins by k9s' schema (internal/config/json/schemas/plugins.json), which
// allows nothing else.
type file struct {
	Plugins map[string]plugin `json:"plugins"`
}

type plugin struct {
	ShortCut        string   `json:"shortCut"`
	Override        bool     `json:"override"`
	Description     string   `json:"description"`
	Confirm         bool     `json:"confirm"`
	Dangerous       bool     `json:"dangerous"`
	Scopes          []string `json:"scopes"`
	Command         string   `json:"command"`
	Background      bool     `json:"background"`
	OverwriteOutput bool     `json:"overwriteOutput"`
	Args            []string `json:"args"`
}

func read(t *testing.T) map[string]plugin {
	t.Helper()
	text, err := os.ReadFile("../../plugins/k9s/gc.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var f file
	if err := yaml.UnmarshalStrict(text, &f); err != nil {
		t.Fatal(err)
	}
	return f.Plugins
}

// variable is what k9s replaces in an argument (internal/view/env.go). One that k9s does not know
// is an error there.
var variable = regexp.MustCompile(`\$(!?[\w|\-]+)`)

// known are the variables of k9s that are used here; those of the row are filled in by a test.
var known = []string{"NAME", "NAMESPACE", "CONTEXT", "RESOURCE_NAME", "RESOURCE_GROUP"}

// TestPluginsAreWhatTheSchemaOfK9sAllows: what it requires is there, keys differ, and each variable
// is one that k9s knows.
func TestPluginsAreWhatTheSchemaOfK9sAllows(t *testing.T) {
	t.Parallel()
	plugins, keys := read(t), map[string]string{}
	for _, want := range []string{"gc-tree", "gc-why", "gc-delete-preview", "gc-unfinalize"} {
		if _, ok := plugins[want]; !ok {
			t.Errorf("there is no %s", want)
		}
	}
	for name, p := range plugins {
		if p.ShortCut == "" || p.Description == "" || len(p.Scopes) == 0 || p.Command == "" {
			t.Errorf("%s lacks what k9s requires: %+v", name, p)
		}
		if other, taken := keys[p.ShortCut]; taken {
			t.Errorf("%s and %s have the key %s", name, other, p.ShortCut)
		}
		keys[p.ShortCut] = name
		if writes := name == "gc-unfinalize"; p.Dangerous != writes {
			t.Errorf("%s is dangerous: %t; k9s leaves dangerous plugins out when it may only read", name, p.Dangerous)
		}
		for i, arg := range p.Args {
			for _, m := range variable.FindAllStringSubmatch(arg, -1) {
				if !slices.Contains(known, m[1]) {
					t.Errorf("%s: k9s does not know $%s", name, m[1])
				}
				if i < 2 {
					t.Errorf("%s puts $%s into the script, where a name could be a command", name, m[1])
				}
			}
		}
		if len(p.Args) < 6 || p.Args[0] != "-c" || !strings.HasPrefix(p.Args[1], `"$@"`) ||
			!slices.Equal(p.Args[2:5], []string{"sh", "kubectl", "gc"}) {
			t.Errorf("%s does not run kubectl gc with its arguments: %q", name, p.Args)
		}
	}
}

// TestPluginsRunOnTheRowUnderTheCursor: with what k9s fills in for objects of the core group, of
// another one, and of the cluster, for which the namespace is "-" or empty.
func TestPluginsRunOnTheRowUnderTheCursor(t *testing.T) {
	c := testcluster.Shared(t)
	namespace := c.Namespace(t)
	c.Kubectl(t, "create", "configmap", "settings", "-n", namespace)
	c.Kubectl(t, "create", "deployment", "web", "--image=nginx", "--replicas=0", "-n", namespace)
	for _, name := range []string{"--all", "--server=evil.example", "bystander"} {
		c.Apply(t, "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: "+name+"}\n", "-n", namespace)
	}
	rows := map[string]map[string]string{
		"core group": {"RESOURCE_NAME": "configmaps", "RESOURCE_GROUP": "", "NAME": "settings",
			"NAMESPACE": namespace},
		"another group": {"RESOURCE_NAME": "deployments", "RESOURCE_GROUP": "apps", "NAME": "web",
			"NAMESPACE": namespace},
		"named like an option": {"RESOURCE_NAME": "roles", "RESOURCE_GROUP": "rbac.authorization.k8s.io", "NAME": "--all",
			"NAMESPACE": namespace},
		"named like a server": {"RESOURCE_NAME": "roles", "RESOURCE_GROUP": "rbac.authorization.k8s.io",
			"NAME": "--server=evil.example", "NAMESPACE": namespace},
		"cluster-scoped":          {"RESOURCE_NAME": "namespaces", "RESOURCE_GROUP": "", "NAME": namespace, "NAMESPACE": "-"},
		"cluster-scoped, no name": {"RESOURCE_NAME": "namespaces", "RESOURCE_GROUP": "", "NAME": namespace, "NAMESPACE": ""},
	}
	wants := map[string]string{"gc-tree": "NAMESPACE", "gc-why": "not being deleted", "gc-delete-preview": "digest: ",
		"gc-unfinalize": "not being deleted"}
	for row, values := range rows {
		values["CONTEXT"] = "controlplane"
		for name, p := range read(t) {
			var args []string
			for _, arg := range p.Args[5:] {
				args = append(args, variable.ReplaceAllStringFunc(arg, func(v string) string { return values[v[1:]] }))
			}
			code, stdout, stderr := script.InProcess(t.Context(), "", append(args, "--kubeconfig="+c.Kubeconfig())...)
			if !strings.Contains(stdout+stderr, wants[name]) || strings.HasPrefix(row, "named") &&
				strings.Contains(stdout, "bystander") {
				t.Errorf("%s, %s: exit code %d\n%v\n%s%s", row, name, code, args, stdout, stderr)
			}
		}
	}
}
