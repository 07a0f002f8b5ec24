package core

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

const (
	// etcdTakes is how large a request to etcd may be by default, in bytes (--max-request-bytes of
	// etcd), and fromThere how much smaller an object is that does not fit with what a deletion and
	// the managedFields of whoever writes it add.
	etcdTakes = 3 << 19
	fromThere = 2 << 10
)

// Large is the evidence that an object has about the size that etcd takes: to write a deletionTimestamp
// or a status into it fails then, and dry runs do not get as far as etcd
// (https://github.com/kubernetes/kubernetes/issues/128238). There is none for one that is smaller, nor
// for one of a built-in type: etcd keeps those in another form, in which they have fewer bytes
// (k8s.io/kubernetes/pkg/controlplane/apiserver/options/options.go, DefaultStorageMediaType).
func Large(o *unstructured.Unstructured) []v1alpha1.Observation {
	if cluster.BuiltIn(o.GroupVersionKind().Group) {
		return nil
	}
	content, err := json.Marshal(o.Object)
	if err != nil || len(content) < etcdTakes-fromThere {
		return nil
	}
	return Observed(fmt.Sprintf("it has about %.1f MiB, and etcd takes 1.5 MiB by default: a write that adds to it can fail, "+
		"which a dry run does not show", float64(len(content))/(1<<20)))
}
