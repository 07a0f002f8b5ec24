package selection

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
)

// Manifest is an object in a file.
type Manifest struct {
	Object *unstructured.Unstructured
	// Source is the file, URL or stream that it is from.
	Source string
}

// Place is what makes two manifests mean the same object: what applies them goes by it. The version of
// the type does not count.
type Place struct{ Group, Kind, Namespace, Name string }

// Place is that of a manifest: in the given namespace if it names none and its type has some.
func (m Manifest) Place(namespace string, namespaced bool) Place {
	o := m.Object
	p := Place{graph.Ref{APIVersion: o.GetAPIVersion()}.Group(), o.GetKind(), o.GetNamespace(), o.GetName()}
	switch {
	case !namespaced:
		p.Namespace = ""
	case p.Namespace == "":
		p.Namespace = namespace
	}
	return p
}

// Manifests reads the objects in files, as kubectl does, and asks no server. Lists are taken apart.
// It ends with ctx.
func Manifests(ctx context.Context, files resource.FilenameOptions) ([]Manifest, error) {
	infos, err := infosOf(ctx, resource.NewLocalBuilder().
		Unstructured().
		ContinueOnError().
		FilenameParam(false, &files).
		Flatten())
	if err != nil {
		return nil, err
	}
	var all []Manifest
	for _, info := range infos {
		o, ok := info.Object.(*unstructured.Unstructured)
		if !ok {
			return nil, fmt.Errorf("reading %s: %T is no object", info.Source, info.Object)
		}
		all = append(all, Manifest{o, info.Source})
	}
	return all, nil
}

// infosOf returns what a builder finds. It knows no context, and reads files, addresses and
// standard input.
func infosOf(ctx context.Context, b *resource.Builder) ([]*resource.Info, error) {
	return interrupt.Do(ctx, func() ([]*resource.Info, error) { return b.Do().Infos() })
}
