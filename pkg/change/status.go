package change

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// GiveStatus gives an object a status that it had before it was created again. One that has a status
// by now keeps it: it is that of its controller. The errors are those of Write.Do, and ErrNotShown.
func (o Object) GiveStatus(ctx context.Context, status any) (given bool, err error) {
	var now *unstructured.Unstructured
	err = Write{
		Read: func(ctx context.Context) (version string, err error) {
			if now, err = o.ReadContent(ctx); err != nil {
				return "", err
			}
			return now.GetResourceVersion(), nil
		},
		Decide: func(context.Context) (func(context.Context) error, error) {
			if hasStatus(now) {
				return nil, nil
			}
			now.Object["status"] = status
			return func(ctx context.Context) error {
				answered, err := o.Server.UpdateStatus(ctx, o.Type, now, cluster.WriteOptions{})
				switch {
				case err != nil:
					return err
				case !hasStatus(answered):
					return ErrNotShown
				}
				given = true
				return o.identify(string(answered.GetUID()))
			}, nil
		},
	}.Do(ctx)
	return given, err
}

func hasStatus(o *unstructured.Unstructured) bool {
	status, _, _ := unstructured.NestedMap(o.Object, "status")
	return len(status) > 0
}
