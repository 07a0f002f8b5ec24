package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// stir changes one object of each of the types that have many. Where there are as many objects as
// here something changes all the time, and servers rely on it: Kubernetes 1.34 and later continue a
// list from memory only if the type changed since the last compaction, and from etcd, three times
// as slowly, once it did not for some minutes.
func (s *session) stir(ctx context.Context) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"bench.example/stirred":%q}}}`,
		time.Now().Format(time.RFC3339Nano))
	one := metav1.ListOptions{Limit: 1}
	for _, gvr := range manyObjects {
		client := s.dynamic.Resource(gvr).Namespace(s.namespace)
		list, err := client.List(ctx, one)
		if err != nil {
			return fmt.Errorf("listing %s: %w", gvr.Resource, err)
		}
		for _, o := range list.Items {
			if _, err := client.Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				return fmt.Errorf("changing %s %s/%s: %w", gvr.Resource, s.namespace, o.GetName(), err)
			}
		}
	}
	return nil
}
