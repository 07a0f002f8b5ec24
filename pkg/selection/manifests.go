package selection

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
)

// Manifest is an object in a file.
type Manifest struct {
	Object *unstructured.Unstructured
	// Source is the file, URL or stream that it is from.
	Source string
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
