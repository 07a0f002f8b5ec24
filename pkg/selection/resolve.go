package selection

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Resolve finds out what a request means on a server. It asks for nothing but discovery. It ends
// with ctx.
func Resolve(ctx context.Context, getter genericclioptions.RESTClientGetter, cat *cluster.Catalog,
	req Request) (Selection, error) {
	selector, err := req.Selector()
	r := Selection{Selector: selector}
	if err != nil {
		return r, err
	}
	mapper, err := getter.ToRESTMapper()
	if err != nil {
		return r, err
	}
	if len(req.Args) == 0 && !req.HasFiles() {
		return r, nil
	}
	if len(req.Args) == 1 && !strings.Contains(req.Args[0], "/") {
		for _, name := range strings.Split(req.Args[0], ",") {
			t, err := FindType(mapper, cat, name)
			if err != nil {
				return r, err
			}
			r.Types = append(r.Types, t)
		}
		return r, nil
	}
	infos, err := infosOf(ctx, resource.NewBuilder(getter).
		Unstructured().
		ContinueOnError().
		NamespaceParam(req.Namespace).DefaultNamespace().AllNamespaces(req.AllNamespaces).
		FilenameParam(false, &req.Files).
		ResourceTypeOrNameArgs(false, req.Args...).
		RequireObject(false).
		Flatten())
	if err != nil {
		return r, SuggestType(err, cat)
	}
	for _, info := range infos {
		t, known := cat.Lookup(info.Mapping.Resource.GroupResource())
		if !known {
			return r, fmt.Errorf("the server doesn't list %s", info.Mapping.Resource.GroupResource())
		}
		o := Object{Resource: t, Namespace: info.Namespace, Name: info.Name}
		if !t.Namespaced {
			o.Namespace = ""
		}
		r.Objects = append(r.Objects, o)
	}
	if len(r.Objects) == 0 {
		return r, errors.New("no objects passed")
	}
	return r, nil
}
