package link

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestAGuardSaysForWhomAndWhyItKeepsItsEnd: the users that it names, and its reason, each only if
// it is there.
func TestAGuardSaysForWhomAndWhyItKeepsItsEnd(t *testing.T) {
	d := definition(t, `
from: {kinds: [protection.crossplane.io/Usage]}
ends: [{form: reference, field: spec.of, keys: {name: resourceRef.name}}]
users: [{form: reference, field: spec.by, keys: {name: resourceRef.name}}]
reasonField: spec.reason
deletion: {of: guard}`)
	users, reason := d.UsersOf(object(t, `
metadata: {namespace: apps}
spec: {by: {apiVersion: storage.example.org/v1, kind: Policy, resourceRef: {name: p}}, reason: the auditors need it}`))
	if got := written(users); got != "storage.example.org/v1 Policy apps/p" || reason != "the auditors need it" {
		t.Errorf("got %q for %q", got, reason)
	}
	if users, reason = d.UsersOf(object(t, "spec: {of: {kind: Bucket}}")); len(users) > 0 || reason != "" {
		t.Errorf("got %v for %q, want nothing", users, reason)
	}
}

// TestOnlyAGuardHasUsers: a definition that says otherwise is refused.
func TestOnlyAGuardHasUsers(t *testing.T) {
	for text, want := range map[string]string{
		"users: [{form: reference, field: spec.by}]\ndeletion: {of: neither}":                       `"users" and "reasonField" are for a deletion "of" guard`,
		"reasonField: spec.reason\ndeletion: {of: neither}":                                         `"users" and "reasonField" are for a deletion "of" guard`,
		"dryRunWrites: {webhooks: [it], label: a, writes: it}\ndeletion: {of: neither}":             `"dryRunWrites" is for a deletion "of" guard`,
		"dryRunWrites: {label: a, writes: it}\ndeletion: {of: guard}":                               `"dryRunWrites": "webhooks" is empty`,
		"dryRunWrites: {webhooks: [it], writes: it}\ndeletion: {of: guard}":                         `"dryRunWrites": "label" is missing`,
		"deletion: {of: guard, annotation: a}":                                                      `leave out what says how a deletion travels`,
		"deletion: {of: source, by: it, policy: background, waits: never, annotation: a}":           `write "of" end`,
		"users: [{form: reference}]\ndeletion: {of: guard}":                                         `"users": "field" is missing`,
		"users: [{form: labels, labels: a=b, kinds: [v1/Pod]}]\ndeletion: {of: guard}":              `"users": write the form "reference" or "text"`,
		"users: [{form: reference, field: spec.by, keys: {nam: spec.name}}]\ndeletion: {of: guard}": `"users": "keys" has "nam"`,
	} {
		d := &Definition{ID: "it", Name: "it", Verified: BySource, Source: "https://example.com/it.go"}
		if err := yaml.UnmarshalStrict([]byte("from: {kinds: [v1/Pod]}\nends: [{form: reference, field: spec.of}]\n"+text),
			d); err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, err := range d.Check() {
			said = append(said, err.Error())
		}
		if got := strings.Join(said, "; "); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestAnAnnotationHasAnEndDeleted: without it the end stays, and its value is the policy, if it is
// one.
func TestAnAnnotationHasAnEndDeleted(t *testing.T) {
	d := definition(t, `
from: {kinds: [v1/ConfigMap]}
ends: [{form: reference, field: spec.of}]
deletion: {of: end, by: it, policy: background, waits: never, annotation: example.com/attempt}`)
	for text, want := range map[string]string{
		"metadata: {}": "annotation example.com/attempt is not set",
		"metadata: {annotations: {example.com/attempt: Foreground}}": "foreground",
		"metadata: {annotations: {example.com/attempt: Orphan}}":     "orphan",
		"metadata: {annotations: {example.com/attempt: at once}}":    "background",
		"metadata: {annotations: {example.com/attempt: ''}}":         "background",
	} {
		end := object(t, text)
		got, kept := Kept(d.KeepOf(nil), end)
		if !kept {
			got = string(d.PolicyFor(end, d.EffectOf(nil, nil)))
		}
		if asks, _ := d.AsksEnds(); got != want || !asks {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
