package dump

import (
	"path"
	"slices"
	"strings"
)

// layout is how a kind of dump lays out its files.
type layout struct {
	// name is what the kind of dump is called.
	name string
	// is recognizes it by the names of its files.
	is func(names []string) bool
	// place says what a file with a name holds.
	place func(parts []string) place
	// unsaved is why a type is not known of which it has no object.
	unsaved string
}

// place says what a file holds.
type place struct {
	skip bool
	// resource and group are those of its objects; empty where the name does not tell.
	resource, group string
	// apiVersion and kind are those of objects that do not say what they are.
	apiVersion, kind string
	// namespace is that of its objects, empty where the name does not tell.
	namespace string
	covers    coverage
}

// coverage says what it proves that an object is not in a file.
type coverage uint8

const (
	// nothing is proven: some objects were saved, and others were not.
	nothing coverage = iota
	// ofNamespace is a list of all objects of a type in the namespace.
	ofNamespace
	// ofAll is a list of all objects of a type.
	ofAll
)

var skipped = place{skip: true}

// layouts are those that are recognized, in this order. The last fits all.
var layouts = []layout{velero, supportBundle, inspection, clusterInfo, loose}

// loose are files that kubectl get wrote. With names or a selector it writes the same List as
// without, so that none of them proves what was not there.
var loose = layout{
	name:    "files",
	is:      func([]string) bool { return true },
	place:   func([]string) place { return place{} },
	unsaved: "files do not say that they have all of them",
}

// velero is a backup: resources/RESOURCE.GROUP/namespaces/NAMESPACE/NAME.json, or
// resources/RESOURCE.GROUP/cluster/NAME.json, and the same in folders for versions. A backup can
// leave out what its labels and its lists of types say.
var velero = layout{
	name: "Velero backup",
	is: func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			parts := split(name)
			at := slices.Index(parts, "resources")
			return at >= 0 && len(parts)-at >= 4 && (slices.Contains(parts[at+2:], "cluster") ||
				slices.Contains(parts[at+2:], "namespaces"))
		})
	},
	place: func(parts []string) place {
		at := slices.Index(parts, "resources")
		if at < 0 || len(parts)-at < 4 {
			return skipped
		}
		rest := parts[at+1:]
		resource, group, _ := strings.Cut(rest[0], ".")
		rest = rest[1:]
		if rest[0] != "cluster" && rest[0] != "namespaces" { // v1, or v1-preferredversion
			if !strings.HasSuffix(rest[0], "-preferredversion") {
				return skipped
			}
			rest = rest[1:]
		}
		if len(rest) < 2 {
			return skipped
		}
		p := place{resource: resource, group: group}
		if rest[0] == "namespaces" {
			p.namespace = rest[1]
		}
		return p
	},
	unsaved: "the backup does not say which objects it leaves out",
}

// inspection is what oc adm inspect, and with it must-gather, writes:
// namespaces/NAMESPACE/GROUP/RESOURCE.yaml, with all objects of the namespace, and
// cluster-scoped-resources/GROUP/RESOURCE/NAME.yaml, of which only those are there that were asked
// for.
var inspection = layout{
	name: "must-gather, or oc adm inspect",
	is: func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			parts := split(name)
			cluster, namespaces := slices.Index(parts, clusterScoped), namespacesAt(parts)
			return cluster >= 0 && len(parts)-cluster >= 3 || namespaces >= 0 && len(parts)-namespaces == 4
		})
	},
	place: func(parts []string) place {
		if at := slices.Index(parts, clusterScoped); at >= 0 {
			return inspected(parts[at+1:], "", ofAll)
		}
		at := namespacesAt(parts)
		if at < 0 || len(parts)-at < 3 {
			return skipped
		}
		namespace := parts[at+1]
		if len(parts)-at == 3 { // NAMESPACE.yaml
			return place{resource: "namespaces", apiVersion: "v1", kind: "Namespace"}
		}
		return inspected(parts[at+2:], namespace, ofNamespace)
	},
	unsaved: "the dump does not say that it has all of them",
}

const clusterScoped = "cluster-scoped-resources"

// namespacesAt is where a path has the folder of the namespaces, -1 if it has none. Some images of
// must-gather put that of all namespaces into another one: namespaces/all/namespaces/NAMESPACE.
func namespacesAt(parts []string) int {
	at := slices.Index(parts, "namespaces")
	if at >= 0 && len(parts)-at > 4 && parts[at+2] == "namespaces" {
		return at + 2
	}
	return at
}

// inspected is the place of GROUP/RESOURCE.yaml and of GROUP/RESOURCE/NAME.yaml.
func inspected(parts []string, namespace string, list coverage) place {
	p := place{group: parts[0], namespace: namespace}
	if p.group == "core" {
		p.group = ""
	}
	switch len(parts) {
	case 2:
		p.resource, p.covers = stem(parts[1]), list
	case 3:
		p.resource = parts[1]
	default:
		return skipped
	}
	return p
}

// clusterInfo is what kubectl cluster-info dump --output-directory writes: nodes.json, and for some
// namespaces NAMESPACE/pods.json with five other types and the events.
var clusterInfo = layout{
	name: "kubectl cluster-info dump",
	is: func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			parts := split(name)
			return len(parts) >= 2 && stem(parts[len(parts)-1]) == "replication-controllers"
		})
	},
	place: func(parts []string) place {
		switch name := stem(parts[len(parts)-1]); {
		case name == "nodes":
			return place{covers: ofAll}
		case len(parts) < 2 || !slices.Contains(clusterInfoLists, name): // which somebody has put beside it
			return place{}
		}
		return place{namespace: parts[len(parts)-2], covers: ofNamespace}
	},
	unsaved: "kubectl cluster-info dump does not save them",
}

// clusterInfoLists are the files of a namespace.
var clusterInfoLists = []string{"daemonsets", "deployments", "events", "pods", "replicasets", "replication-controllers",
	"services"}

// supportBundle is what troubleshoot.sh collects: cluster-resources/RESOURCE.json of cluster-scoped
// types, and cluster-resources/RESOURCE/NAMESPACE.json of others.
var supportBundle = layout{
	name: "support bundle",
	is: func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			return slices.Contains(split(name), bundleFolder)
		})
	},
	place: func(parts []string) place {
		at := slices.Index(parts, bundleFolder)
		if at < 0 || len(parts)-at < 2 {
			return skipped
		}
		rest := parts[at+1:]
		if strings.HasSuffix(stem(rest[len(rest)-1]), "-errors") {
			return skipped
		}
		if rest[0] == "custom-resources" {
			return custom(rest[1:])
		}
		p, known := bundled[strings.ToLower(stem(rest[0]))]
		switch {
		case !known || len(rest) > 2:
			return skipped
		case len(rest) == 2:
			p.namespace, p.covers = stem(rest[1]), ofNamespace
		case p.kind != "Namespace": // which can be only those that were asked for
			p.covers = ofAll
		}
		return p
	},
	unsaved: "the support bundle does not have them",
}

const bundleFolder = "cluster-resources"

// custom is the place of NAME.GROUP.json and NAME.GROUP/NAMESPACE.json.
func custom(parts []string) place {
	if len(parts) == 0 || len(parts) > 2 {
		return skipped
	}
	name := parts[0]
	p := place{covers: ofAll}
	if len(parts) == 2 {
		p.namespace, p.covers = stem(parts[1]), ofNamespace
	} else {
		name = stem(name)
	}
	p.resource, p.group, _ = strings.Cut(name, ".")
	return p
}

// bundled are the folders and files of a support bundle. Older versions write objects that do not
// say what they are.
var bundled = map[string]place{
	"namespaces":                  {apiVersion: "v1", kind: "Namespace"},
	"pods":                        {apiVersion: "v1", kind: "Pod"},
	"services":                    {apiVersion: "v1", kind: "Service"},
	"nodes":                       {apiVersion: "v1", kind: "Node"},
	"limitranges":                 {apiVersion: "v1", kind: "LimitRange"},
	"resource-quota":              {apiVersion: "v1", kind: "ResourceQuota"},
	"events":                      {apiVersion: "v1", kind: "Event"},
	"pvs":                         {apiVersion: "v1", kind: "PersistentVolume"},
	"pvcs":                        {apiVersion: "v1", kind: "PersistentVolumeClaim"},
	"endpoints":                   {apiVersion: "v1", kind: "Endpoints"},
	"serviceaccounts":             {apiVersion: "v1", kind: "ServiceAccount"},
	"configmaps":                  {apiVersion: "v1", kind: "ConfigMap"},
	"deployments":                 {apiVersion: "apps/v1", kind: "Deployment"},
	"replicasets":                 {apiVersion: "apps/v1", kind: "ReplicaSet"},
	"statefulsets":                {apiVersion: "apps/v1", kind: "StatefulSet"},
	"daemonsets":                  {apiVersion: "apps/v1", kind: "DaemonSet"},
	"jobs":                        {apiVersion: "batch/v1", kind: "Job"},
	"cronjobs":                    {apiVersion: "batch/v1", kind: "CronJob"},
	"ingress":                     {apiVersion: "networking.k8s.io/v1", kind: "Ingress"},
	"network-policy":              {apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy"},
	"pod-disruption-budgets":      {apiVersion: "policy/v1", kind: "PodDisruptionBudget"},
	"storage-classes":             {apiVersion: "storage.k8s.io/v1", kind: "StorageClass"},
	"volumeattachments":           {apiVersion: "storage.k8s.io/v1", kind: "VolumeAttachment"},
	"custom-resource-definitions": {apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition"},
	"roles":                       {apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role"},
	"rolebindings":                {apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding"},
	"clusterroles":                {apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole"},
	"clusterrolebindings":         {apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding"},
	"priorityclasses":             {apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass"},
	"endpointslices":              {apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice"},
	"leases":                      {apiVersion: "coordination.k8s.io/v1", kind: "Lease"},
}

func split(name string) []string { return strings.Split(name, "/") }

// stem is the name of a file without its ending.
func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }
