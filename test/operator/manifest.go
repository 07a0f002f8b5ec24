package operator

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Documents reads the documents of a manifest.
func Documents(manifest string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096); ; {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if len(o.Object) > 0 {
			all = append(all, o)
		}
	}
}

// manifests are what an operator creates for an object.
func (w Work) manifests(owner *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	var missing error
	text := os.Expand(w.Creates, func(path string) string {
		switch path {
		case "name":
			return owner.GetName()
		case "namespace":
			return owner.GetNamespace()
		case "uid":
			return string(owner.GetUID())
		}
		value, ok, err := unstructured.NestedFieldNoCopy(owner.Object, strings.Split(path, ".")...)
		if !ok || err != nil {
			missing = fmt.Errorf("%s %s has no %s", owner.GetKind(), owner.GetName(), path)
		}
		return fmt.Sprint(value)
	})
	all, err := Documents(text)
	if err = errors.Join(missing, err); err != nil {
		return nil, err
	}
	for _, o := range all {
		if !w.Unowned && (owner.GetNamespace() == "" || owner.GetNamespace() == o.GetNamespace()) {
			o.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())})
		}
	}
	return all, nil
}
