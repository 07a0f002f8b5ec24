package admission

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Service is what the server calls: a Service of the cluster, or a URL.
type Service struct{ Namespace, Name, URL string }

// Service returns what the server calls for the webhook.
func (h Webhook) Service() Service {
	var s Service
	if h.ClientConfig.Service != nil {
		s.Namespace, s.Name = h.ClientConfig.Service.Namespace, h.ClientConfig.Service.Name
	}
	if h.ClientConfig.URL != nil {
		s.URL = *h.ClientConfig.URL
	}
	return s
}

// APIService returns the Service that an APIService names, none if kube-apiserver serves it itself.
func APIService(o *unstructured.Unstructured) (Service, bool) {
	return service(o, "spec", "service")
}

// Conversion returns what the server calls to convert the objects of a CustomResourceDefinition.
func Conversion(crd *unstructured.Unstructured) (Service, bool) {
	s, ok := service(crd, "spec", "conversion", "webhook", "clientConfig", "service")
	s.URL, _, _ = unstructured.NestedString(crd.Object, "spec", "conversion", "webhook", "clientConfig", "url")
	return s, ok || s.URL != ""
}

func service(o *unstructured.Unstructured, path ...string) (s Service, ok bool) {
	m, _, _ := unstructured.NestedMap(o.Object, path...)
	s.Namespace, _, _ = unstructured.NestedString(m, "namespace")
	s.Name, _, _ = unstructured.NestedString(m, "name")
	return s, s.Name != ""
}
