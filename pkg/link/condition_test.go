package link

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func condition(t *testing.T, text string) Condition {
	t.Helper()
	var c Condition
	if err := yaml.UnmarshalStrict([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestConditions: what an object has, and how a condition that it meets is said.
func TestConditions(t *testing.T) {
	const o = `{metadata: {labels: {app: ''}, annotations: {options: 'Prune=false, Delete=false'}, finalizers: [a, b]}, spec: {empty: '', none: [], remote: {secret: {name: x}}, ready: true}}`
	for text, c := range map[string]struct {
		met  bool
		says string
	}{
		"{label: app}":                                           {true, "label app is set"},
		"{label: app, empty: true}":                              {false, "label app is not set"},
		"{label: app, not: true}":                                {false, "label app is not set"},
		"{label: other, not: true}":                              {true, "label other is not set"},
		"{annotation: options, has: Delete=false}":               {true, "annotation options has Delete=false"},
		"{annotation: options, has: Delete}":                     {false, "annotation options has Delete"},
		"{annotation: options, has: Delete, not: true}":          {true, "annotation options does not have Delete"},
		"{annotation: options, has: Delete=*}":                   {true, "annotation options has Delete=*"},
		"{annotation: options, has: Replace=*, not: true}":       {true, "annotation options does not have Replace=*"},
		"{annotation: options, value: Delete=false}":             {false, "annotation options is Delete=false"},
		"{field: 'metadata.finalizers[*]', value: b}":            {true, "metadata.finalizers has b"},
		"{field: 'metadata.finalizers[*]', value: c}":            {false, "metadata.finalizers has c"},
		"{field: 'metadata.finalizers[*]', value: b, not: true}": {false, "metadata.finalizers does not have b"},
		"{field: 'metadata.finalizers[*]', value: c, not: true}": {true, "metadata.finalizers does not have c"},
		"{field: spec.empty}":                                    {false, "spec.empty is set"},
		"{field: spec.none, empty: true}":                        {true, "spec.none is not set"},
		"{field: spec.remote}":                                   {true, "spec.remote is set"},
		"{field: spec.remote, empty: true}":                      {false, "spec.remote is not set"},
		"{field: spec.remote, value: x}":                         {false, "spec.remote is x"},
		"{field: spec.ready, value: 'true'}":                     {true, "spec.ready is true"},
		"{field: spec.off, value: 'false', empty: true}":         {true, "spec.off is false or is not set"},
	} {
		condition := condition(t, text)
		if got := condition.met(object(t, o)); got != c.met || condition.String() != c.says {
			t.Errorf("%s: %t, %q; want %t, %q", text, got, condition, c.met, c.says)
		}
	}
}

func TestConditionsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"{value: x}":                         "give exactly one of",
		"{label: a, field: b}":               "give exactly one of",
		"{label: a, value: b, has: c}":       `give "value" or "has"`,
		"{label: a, empty: true, not: true}": `leave out "empty"`,
		"{label: a, has: b, empty: true}":    `leave out "empty"`,
	} {
		if got := fmt.Sprint(checkConditions([]Condition{condition(t, text)})); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
