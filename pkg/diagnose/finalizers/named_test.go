package finalizers

import (
	"fmt"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestNamesIn: what the spec of a custom resource names by the conventions of the API, and nothing that
// is written for it, is optional, is of pods, or no name at all.
func TestNamesIn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		spec string
		want []string
	}{
		{`{authentication: {serviceAccount: {name: kv-creator}}}`, []string{"spec.authentication.serviceAccount.name ServiceAccount n/kv-creator"}},
		{`{serviceAccountName: runner}`, []string{"spec.serviceAccountName ServiceAccount n/runner"}},
		{`{credentialsSecretRef: {name: creds, namespace: ops}}`, []string{"spec.credentialsSecretRef.name Secret ops/creds"}},
		{`{auth: {passwordSecretKeyRef: {name: db, key: password}}}`, []string{"spec.auth.passwordSecretKeyRef.name Secret n/db"}},
		{`{token: {secretKeySelector: {name: db}}}`, []string{"spec.token.secretKeySelector.name Secret n/db"}},
		{`{tls: {secretName: ca, secretNamespace: ops}}`, []string{"spec.tls.secretName Secret ops/ca"}},
		{`{backends: [{configMapRef: {name: a}}, {configMapRef: {name: b}}]}`,
			[]string{"spec.backends[0].configMapRef.name ConfigMap n/a", "spec.backends[1].configMapRef.name ConfigMap n/b"}},
		{`{writeConnectionSecretToRef: {name: made}, targetSecretRef: {name: made}, outputSecretName: made}`, nil},
		{`{secretRef: {name: maybe, optional: true}}`, nil},
		{`{template: {spec: {serviceAccountName: pods}}, podTemplate: {serviceAccountName: pods}}`, nil},
		{`{clientSecret: s3cr3t, secretName: "", serviceAccountName: "a b"}`, nil},
		{`{secret: {secretName: inner}}`, []string{"spec.secret.secretName Secret n/inner"}},
		{`{clusterName: demo, bucket: {name: b}, name: x}`, nil},
	} {
		var spec map[string]any
		if err := yaml.Unmarshal([]byte(test.spec), &spec); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range namesIn(spec, "spec", "n") {
			got = append(got, fmt.Sprintf("%s %s %s/%s", n.field, n.kind, n.namespace, n.name))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.spec, got, test.want)
		}
	}
}
