package actor

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// setting is a value that a container is started with, and whether it can be told from its
// workload.
type setting struct {
	value string
	known bool
}

// container is what one container of a workload is started with.
type container struct {
	env  map[string]setting
	args []string // command and args
	// image is the path of its image's repository, empty if it says none.
	image string
}

// containersOf reads the containers of a workload's pods.
func containersOf(w *unstructured.Unstructured) []container {
	template, _, _ := unstructured.NestedFieldNoCopy(w.Object, "spec", "template")
	t, _ := template.(map[string]any)
	var all []container
	for _, item := range listOf(t, "spec", "containers") {
		m, _ := item.(map[string]any)
		c := container{env: map[string]setting{}}
		for _, item := range listOf(m, "env") {
			v, _ := item.(map[string]any)
			c.env[status.Text(v, "name")] = c.settingOf(v, w, t)
		}
		c.args, c.image = append(texts(m, "command"), texts(m, "args")...), repository(status.Text(m, "image"))
		all = append(all, c)
	}
	return all
}

// settingOf resolves the value of a variable. What comes from a ConfigMap or a Secret is not read.
func (c container) settingOf(v map[string]any, w *unstructured.Unstructured, template map[string]any) setting {
	from, sourced := v["valueFrom"].(map[string]any)
	if !sourced {
		return c.expanded(status.Text(v, "value"))
	}
	path, _, _ := unstructured.NestedString(from, "fieldRef", "fieldPath")
	switch key, annotation := strings.CutPrefix(path, "metadata.annotations['"); {
	case path == "metadata.namespace":
		return setting{w.GetNamespace(), true}
	case annotation: // the Operator Lifecycle Manager writes olm.targetNamespaces into the template
		value, ok, _ := unstructured.NestedString(template, "metadata", "annotations", strings.TrimSuffix(key, "']"))
		return setting{value, ok}
	}
	return setting{}
}

var variable = regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)`)

// expanded puts in the variables that a value refers to, as the kubelet does.
func (c container) expanded(value string) setting {
	s := setting{known: true}
	s.value = variable.ReplaceAllStringFunc(value, func(ref string) string {
		v, ok := c.env[ref[2:len(ref)-1]]
		s.known = s.known && ok && v.known
		return v.value
	})
	return s
}
