package collect

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// creator creates config maps with an owner.
type creator struct{ client kubernetes.Interface }

func newCreator(config *rest.Config) (*creator, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	return &creator{client}, err
}

func (c *creator) create(ctx context.Context, namespace, name, owner, uid string) error {
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: name, OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner,
			UID: types.UID(uid)}},
	}}
	_, err := c.client.CoreV1().ConfigMaps(namespace).Create(ctx, o, metav1.CreateOptions{})
	return err
}
