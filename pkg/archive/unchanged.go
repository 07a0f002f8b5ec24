package archive

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// ErrChanged is of an object that is not what the archive has of it.
var ErrChanged = errors.New("it was changed since it was archived")

// ErrMissing is of an object that the archive does not have.
var ErrMissing = errors.New("it is not in the archive")

// copied is what is remembered of a document in the archive.
type copied struct {
	resourceVersion string
	sum             [sha256.Size]byte
	// lasting is a sum that leaves out the finalizers, too.
	lasting [sha256.Size]byte
	// settings are what the plan itself sets in the object before it deletes it.
	settings []plan.Setting
}

// settingsOf are the fields that a plan sets, by the uids of the objects.
func settingsOf(p *plan.Plan) map[string][]plan.Setting {
	settings := map[string][]plan.Setting{}
	for _, a := range p.Actions {
		if a.Verb == plan.VerbSetPolicy {
			uid := p.Graph.Ref(a.Object).UID
			settings[uid] = append(settings[uid], *a.Setting)
		}
	}
	return settings
}

// Has reports whether the archive has an object, by uid.
func (s *Saved) Has(uid string) bool {
	_, ok := s.copies[uid]
	return ok
}

// Holds reports whether an object that was read from the archive is the one that was saved in it;
// its finalizers, owners and status are not compared.
func (s *Saved) Holds(o *unstructured.Unstructured) bool {
	return s.copies[string(o.GetUID())].resourceVersion == o.GetResourceVersion()
}

// Keeps says whether nothing of an object is lost if it goes now: the archive has it, and has
// all of it but its status, and finalizers that were removed. The error is ErrMissing or
// ErrChanged.
func (s *Saved) Keeps(o *unstructured.Unstructured) error {
	was, ok := s.copies[string(o.GetUID())]
	if !ok {
		return ErrMissing
	}
	is, err := copyOf(o.Object, was.settings)
	if err == nil && is.lasting != was.lasting {
		err = ErrChanged
	}
	return err
}

// Missing are the objects that a plan deletes or changes and that are not in the archive.
func (s *Saved) Missing(p *plan.Plan) []graph.ID {
	return slices.DeleteFunc(touched(p), func(id graph.ID) bool { return s.Has(p.Graph.Ref(id).UID) })
}

// Covers says whether nothing is lost with a version of an object that the archive does not
// have. If it is another version than the archive's, the object is read again and compared in all
// but its status and what the server and the collector write into the metadata. The error is
// ErrMissing, ErrChanged, or that the object could not be read; one that is gone is not lost by a
// delete.
func (s *Saved) Covers(ctx context.Context, client *cluster.Client, t graph.Type, ref graph.Ref,
	resourceVersion string) error {
	was, ok := s.copies[ref.UID]
	switch {
	case !ok && slices.ContainsFunc(s.Gone, func(gone graph.Ref) bool { return gone.UID == ref.UID }):
		return nil // as it was when the archive was written; a uid does not come back
	case !ok:
		return ErrMissing
	case was.resourceVersion == resourceVersion:
		return nil
	}
	now, err := client.GetObject(ctx, t, ref.Namespace, ref.Name)
	switch {
	case cluster.IsAbsent(err, t, ref.Name):
		return nil
	case err != nil:
		return fmt.Errorf("it could not be compared with the archive: %w", err)
	case string(now.GetUID()) != ref.UID:
		return nil // the delete carries the uid
	}
	is, err := copyOf(now.Object, was.settings)
	if err == nil && is.sum != was.sum {
		err = ErrChanged
	}
	return err
}

// written are fields of the metadata that the server and the collector write, so that they change
// without anybody's doing.
var written = []string{"resourceVersion", "generation", "managedFields", "deletionTimestamp",
	"deletionGracePeriodSeconds", "finalizers", "ownerReferences"}

// copyOf returns what is remembered of an object in which the plan sets some fields.
func copyOf(object map[string]any, settings []plan.Setting) (copied, error) {
	content := maps.Clone(object)
	for _, s := range settings {
		content = s.Field.With(content, s.Value)
	}
	delete(content, "status")
	metadata, _ := object["metadata"].(map[string]any)
	kept := maps.Clone(metadata)
	for _, field := range written {
		delete(kept, field)
	}
	var finalizers []any
	for _, f := range list(metadata["finalizers"]) {
		if name, _ := f.(string); !plan.IsCollectors(name) {
			finalizers = append(finalizers, f)
		}
	}
	var owners []any
	for _, o := range list(metadata["ownerReferences"]) {
		if reference, ok := o.(map[string]any); ok {
			reference = maps.Clone(reference)
			delete(reference, "blockOwnerDeletion") // which --strict sets
			owners = append(owners, reference)
		}
	}
	content["metadata"] = kept
	lasting, err := json.Marshal([]any{content, owners})
	if err != nil {
		return copied{}, err
	}
	names, err := json.Marshal(finalizers)
	if err != nil {
		return copied{}, err
	}
	version, _ := metadata["resourceVersion"].(string)
	return copied{
		resourceVersion: version, settings: settings,
		sum: sha256.Sum256(append(slices.Clip(lasting), names...)), lasting: sha256.Sum256(lasting),
	}, nil
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}
