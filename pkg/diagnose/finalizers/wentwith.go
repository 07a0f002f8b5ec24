package finalizers

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// namespaceNamed is the one namespace that the spec or the status of an object names, as
// status.namespaceName does; empty if there is none or more than one. An object in a namespace is
// taken to mean what is there. Where the namespace itself is asked for, that of an object which is
// named does not count, as the claim of a composite of Crossplane: that waits for this.
func namespaceNamed(o *unstructured.Unstructured, itself bool) string {
	if o.GetNamespace() != "" {
		return ""
	}
	found := map[string]bool{}
	for _, part := range []string{"spec", "status"} {
		eachField(o.Object[part], func(m map[string]any, key string, item any) {
			text, _ := item.(string)
			key = strings.TrimSuffix(strings.ToLower(key), "name")
			if strings.HasSuffix(key, "namespace") && validName(text) && !(itself && status.Text(m, "name") != "") {
				found[text] = true
			}
		})
	}
	if len(found) == 1 {
		for name := range found {
			return name
		}
	}
	return ""
}

// wentWith is for something that is missing, and that may have been in the namespace that the object
// names, where that is proven not to exist: it went with that, and one that is made again is another.
func (e dependencies) wentWith(ctx context.Context, f core.Finding, c core.Creation, named string) (
	core.Finding, bool) {
	namespaces, served := e.Reader.KindIn("", "Namespace")
	if !served || named == "" || !e.Absent(ctx, namespaces.Type, core.RefTo(namespaces.Type, "", named)) {
		return f, false
	}
	f.Observe("namespace %s, which the object names, does not exist", named)
	f.Remedy = fmt.Sprintf("Namespace %s, which the object names, does not exist in this cluster: if %s was there, it went with "+
		"it, and one that is made again is another. Look at what is left to clean up. If it was never made, make it where %s looks for it. %s",
		named, c.What, cmp.Or(f.Actor, "whoever removes the finalizer"), c.Left)
	return f, true
}
