package cluster

import "k8s.io/apimachinery/pkg/runtime/schema"

// The types of Kubernetes that are read to find out who works on an object and what stands in the
// way.
var (
	APIServices         = schema.GroupResource{Group: "apiregistration.k8s.io", Resource: "apiservices"}
	CRDs                = schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
	ClusterRoleBindings = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings"}
	ClusterRoles        = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}
	DaemonSets          = schema.GroupResource{Group: "apps", Resource: "daemonsets"}
	Deployments         = schema.GroupResource{Group: "apps", Resource: "deployments"}
	EndpointSlices      = schema.GroupResource{Group: "discovery.k8s.io", Resource: "endpointslices"}
	Events              = schema.GroupResource{Resource: "events"}
	Leases              = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	Namespaces          = schema.GroupResource{Resource: "namespaces"}
	Nodes               = schema.GroupResource{Resource: "nodes"}
	PVCs                = schema.GroupResource{Resource: "persistentvolumeclaims"}
	PersistentVolumes   = schema.GroupResource{Resource: "persistentvolumes"}
	Pods                = schema.GroupResource{Resource: "pods"}
	ReplicaSets         = schema.GroupResource{Group: "apps", Resource: "replicasets"}
	RoleBindings        = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "rolebindings"}
	Roles               = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "roles"}
	ServiceAccounts     = schema.GroupResource{Resource: "serviceaccounts"}
	Services            = schema.GroupResource{Resource: "services"}
	StatefulSets        = schema.GroupResource{Group: "apps", Resource: "statefulsets"}
	VolumeAttachments   = schema.GroupResource{Group: "storage.k8s.io", Resource: "volumeattachments"}
)
