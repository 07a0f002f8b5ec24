package core

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
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
// (https://github.com/kubernetes/kubernetes/issues/128238). There is none for one that is smaller.
func Large(o *unstructured.Unstructured) []v1alpha1.Observation {
	content, err := json.Marshal(o.Object)
	if err != nil || len(content) < etcdTakes-fromThere {
		return nil
	}
	return Observed("it has about 1.5 MiB, which is what etcd takes by default: a write that adds to it can fail, which a " +
		"dry run does not show")
}
