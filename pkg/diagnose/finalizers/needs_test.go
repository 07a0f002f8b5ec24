package finalizers

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestMadeIsWhatOnlyTheStatusNames: what the spec or an annotation names as well was not made of the
// object, be it beside two namespaces.
func TestMadeIsWhatOnlyTheStatusNames(t *testing.T) {
	for text, want := range map[string]bool{
		"{status: {volume: {name: default}}}":                                                                       true,
		"{status: {volumes: [default]}}":                                                                            true,
		"{spec: {volume: other}, status: {volume: other}}":                                                          false,
		"{metadata: {annotations: {example.com/volume: default}}, status: {volume: default}}":                       false,
		"{metadata: {name: default}, status: {volume: default}}":                                                    true,
		"{spec: {project: default, at: {name: default, namespace: default}}, status: {history: [{name: default}]}}": false,
		"{spec: {volumes: [default]}, status: {volume: default}}":                                                   false,
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		if got := made(o, "default"); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
}

// TestRefersToOneNamespace: a name that stands beside several namespaces refers to none of them.
func TestRefersToOneNamespace(t *testing.T) {
	for text, want := range map[string]string{
		"{spec: {secretRef: {name: key}}}":                                                                "shop",
		"{spec: {secretRef: {name: key, namespace: vault}}}":                                              "vault",
		"{spec: {from: {secretName: key, secretNamespace: vault}}}":                                       "vault",
		"{spec: {a: {name: key, namespace: vault}, b: {name: key, namespace: vault}}}":                    "vault",
		"{spec: {templateName: 'vault:key'}}":                                                             "vault",
		"{spec: {from: [{secret: vault/key}]}}":                                                           "vault",
		"{spec: {a: 'vault:key', b: safe/key}}":                                                           "",
		"{spec: {a: ':key', b: /key, c: a-key, d: 'https://vault/key', e: 'vault:keys'}}":                 "",
		"{spec: {a: {name: key, namespace: vault}, b: {name: key, namespace: safe}, c: {name: key}}}":     "",
		"{spec: {a: {name: other, namespace: vault}}, status: {secretRef: {name: key, namespace: safe}}}": "",
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		o.SetNamespace("shop")
		if got, ok := refersTo(o, "key"); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %t, want %q", text, got, ok, want)
		}
	}
}

// TestTheFieldThatHasANamespaceToo: a text with both, and not the name alone or in a list.
func TestTheFieldThatHasANamespaceToo(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{spec: {templateName: 'vault:key'}}":             "spec.templateName",
		"{spec: {from: {secret: vault/key}, a: key}}":     "spec.from.secret",
		"{spec: {name: key, namespace: vault}}":           "",
		"{status: {templateName: 'vault:key'}, spec: {}}": "",
		"{spec: {image: 'example.com/some/key'}}":         "",
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		if got := fieldOfBoth(o.Object["spec"], "spec", "key"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
