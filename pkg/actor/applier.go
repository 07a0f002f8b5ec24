package actor

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// appliers are field managers that write the manifests of others, by the beginnings of their names,
// in lower case. They put a finalizer where the manifest says so, and do not remove it.
var appliers = []string{
	"argocd", "argo-cd", "kustomize-controller", "helm", "tofu", "terraform", "hashicorp", "pulumi", "kapp", "fleetagent",
	"fleet-agent", "fleet-cd",
	"rancher-fleet", "ansible", "skaffold", "tilt", "werf", "cdk8s", "config-sync", "configsync",
	"applier.configmanagement", "porch", "spinnaker", "kustomize", "flux",
}

// clients are the names of people's tools, and those that a program has that was not given one.
var clients = []string{
	"kubectl", "oc", "openapi-generator", "okhttp", "kubernetes-client", "fabric8", "node-fetch", "axios", "unirest",
	"python-requests", "python-urllib", "go-http-client", "kubernetesjavascriptclient",
	"mozilla", "curl", "wget", "postman", "before-first-apply", "unknown", "k9s", "lens", "headlamp", "dashboard",
	"__debug_bin", "exe",
}

// applies says whether a field manager writes what others want: by its name, or since it has
// applied more of the object than its finalizers. An actor writes the finalizer and the status.
func applies(o *unstructured.Unstructured, manager string) bool {
	if begins(appliers, manager) {
		return true
	}
	for m := range cluster.ManagedFields(o) {
		if m.Manager == manager && m.Operation == string(metav1.ManagedFieldsOperationApply) && m.Subresource == "" &&
			writesContent(m.Fields) {
			return true
		}
	}
	return false
}

// nameless says whether a field manager's name says nothing of who it is.
func nameless(manager string) bool { return generic(manager) || begins(clients, manager) }

// begins says whether a name is one of these, or one of these and more behind a character that is
// no letter.
func begins(names []string, manager string) bool {
	manager = strings.ToLower(manager)
	return slices.ContainsFunc(names, func(name string) bool {
		rest, ok := strings.CutPrefix(manager, name)
		return ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
	})
}

// writesContent returns whether fields of managedFields have anything besides metadata and status.
func writesContent(fields map[string]any) bool {
	for field := range fields {
		if field != "f:metadata" && field != "f:status" {
			return true
		}
	}
	return false
}
