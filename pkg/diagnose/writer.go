package diagnose

import (
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// writer is a field manager and when it wrote last. It is a hint and no proof: anybody can edit a finalizer in, and a client can call itself what
// it likes.
type writer struct {
	Manager string
	At      time.Time
}

// writers returns who manages a finalizer of an object, according to managedFields.
func writers(o *unstructured.Unstructured, finalizer string) []writer {
	var all []writer
	for _, entry := range o.GetManagedFields() {
		if entry.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Metadata struct {
				Finalizers map[string]json.RawMessage `json:"f:finalizers"`
			} `json:"f:metadata"`
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
			continue
		}
		quoted, err := json.Marshal(finalizer)
		if err != nil {
			continue
		}
		if _, manages := fields.Metadata.Finalizers["v:"+string(quoted)]; !manages {
			continue
		}
		w := writer{Manager: entry.Manager}
		if entry.Time != nil {
			w.At = entry.Time.Time
		}
		all = append(all, w)
	}
	return all
}
