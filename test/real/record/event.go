package record

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Object identifies an object. Two objects that have the same name, one after the other, differ in
// the uid.
type Object struct {
	// Resource is the resource and group of its type, such as pods or deployments.apps.
	Resource, Namespace, Name string
	UID                       types.UID
}

// String names the object as kubectl does, with its namespace in front.
func (o Object) String() string {
	name := o.Resource + "/" + o.Name
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return name
}

// Kind says what happened to an object.
type Kind string

// The kinds of events.
const (
	Created Kind = "created"
	Deleted Kind = "deletion began" // it got a deletionTimestamp
	Changed Kind = "finalizers changed"
	Gone    Kind = "gone"
)

// Event is one change of an object.
type Event struct {
	Kind
	Object
	// Version is the resourceVersion after the change. All types share one counter, that of etcd.
	Version uint64
	// Seen is when the watch delivered the event.
	Seen time.Time
	// Finalizers are the finalizers after the change; of an object that is gone, the last ones.
	Finalizers []string
}

func (e Event) String() string {
	return fmt.Sprintf("%6d  %s  %-18s  %s [%s]", e.Version, e.Seen.Format("15:04:05.000"), e.Kind, e.Object,
		strings.Join(e.Finalizers, " "))
}
