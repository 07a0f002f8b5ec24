package testcluster

import (
	"fmt"
	"testing"
)

// TestApplyOfADefinitionEndsWhenItsTypesAreServed: what comes next may make an object of each.
func TestApplyOfADefinitionEndsWhenItsTypesAreServed(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	group := c.Namespace(t) + ".example.com"
	c.Apply(t, fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gears.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: gears, kind: Gear}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v3, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
`, group))
	served, err := c.requests.types()
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]bool{"v1": true, "v2": true, "v3": false} {
		if got := served[group+"/"+version+"/gears"]; got != want {
			t.Errorf("%s is served: %t, want %t", version, got, want)
		}
	}
}
