package status_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// TestOfDeletion: the condition that tells of the deletion is one that changed since, and speaks of
// it; one that fails comes before one that does not.
func TestOfDeletion(t *testing.T) {
	t.Parallel()
	const before, since = "2026-01-01T09:59:59Z", "2026-01-01T10:00:00Z"
	condition := func(kind, is, reason, message, at string) any {
		return map[string]any{"type": kind, "status": is, "reason": reason, "message": message, "lastTransitionTime": at}
	}
	for name, c := range map[string]struct {
		conditions []any
		want       string
	}{
		"none":              {nil, ""},
		"since":             {[]any{condition("Ready", "False", "", "cannot delete the bucket", since)}, "Ready"},
		"before":            {[]any{condition("Ready", "False", "", "cannot delete the bucket", before)}, ""},
		"of something else": {[]any{condition("Ready", "False", "", "quota exceeded", since)}, ""},
		"by its reason":     {[]any{condition("Synced", "False", "DeletionFailed", "quota exceeded", since)}, "Synced"},
		"by its type":       {[]any{condition("Deleting", "True", "", "two volumes are attached", since)}, "Deleting"},
		"no message":        {[]any{condition("Deleting", "True", "Deleting", "", since)}, ""},
		"neither":           {[]any{condition("Drained", "Unknown", "", "draining", since)}, ""},
		"no failure": {[]any{condition("NamespaceDeletionContentFailure", "False", "ContentDeleted", "All content successfully deleted", since),
			condition("NamespaceFinalizersRemaining", "False", "ContentHasNoFinalizers", "All content-preserving finalizers finished", since)}, ""},
		"all is well": {[]any{condition("Ready", "True", "", "Deletion succeeded", since),
			condition("Synced", "True", "ReconcileSuccess", "the external resource was deleted", since)}, ""},
		"it succeeded":               {[]any{condition("Purge", "True", "Deleted", "the bucket was deleted successfully", since)}, ""},
		"it is complete":             {[]any{condition("Progressing", "False", "", "Deletion completed", since)}, ""},
		"well, and waits":            {[]any{condition("Synced", "True", "", "waiting for the deletion of two volumes", since)}, "Synced"},
		"well, and says what failed": {[]any{condition("Ready", "True", "", "cannot delete the bucket", since)}, "Ready"},
		"it has not succeeded":       {[]any{condition("Purge", "True", "", "the deletion did not complete: two volumes are left", since)}, "Purge"},
		"three of five":              {[]any{condition("Purge", "True", "", "deletion completed for 3 of 5 shards", since)}, "Purge"},
		"two are left":               {[]any{condition("Purge", "True", "", "successfully deleted 3 machines, 2 remaining", since)}, "Purge"},
		"a part succeeded":           {[]any{condition("Purge", "True", "", "the deletion completed in part: it failed for two", since)}, "Purge"},
		"no time":                    {[]any{condition("Ready", "False", "", "cannot delete the bucket", "")}, ""},
		"what fails is first": {[]any{condition("Progressing", "True", "", "deletes its parts", since),
			condition("Ready", "False", "", "cannot delete the bucket", since)}, "Ready"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &unstructured.Unstructured{Object: map[string]any{
				"metadata": map[string]any{"deletionTimestamp": since}, "status": map[string]any{"conditions": c.conditions}}}
			if got, told := status.OfDeletion(o); got.Type != c.want || told != (c.want != "") {
				t.Errorf("got %q, %v, want %q", got.Type, told, c.want)
			}
		})
	}
}

// TestWrittenSinceTheDeletion: a condition that is about the last generation was written since the
// deletion, which has raised that, whatever time it has.
func TestWrittenSinceTheDeletion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		observed any
		want     bool
	}{
		"the last":         {int64(3), true},
		"the last in JSON": {float64(3), true},
		"the one before":   {int64(2), false},
		"none":             {nil, false},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"deletionTimestamp": "2026-01-01T10:00:00Z", "generation": int64(3)},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False",
				"message": "cannot delete the bucket", "lastTransitionTime": "2026-01-01T09:00:00Z", "observedGeneration": c.observed}}}}}
		if _, got := status.OfDeletion(o); got != c.want {
			t.Errorf("%s: of the deletion: %v, want %v", name, got, c.want)
		}
		if _, got := status.FailedSince(o); got != c.want {
			t.Errorf("%s: failed since: %v, want %v", name, got, c.want)
		}
	}
}

// TestBeforeTheLastChange: a condition that was written after the deletion by who had not seen it
// is not of that, and one from before a change of the spec holds no more.
func TestBeforeTheLastChange(t *testing.T) {
	t.Parallel()
	for observed, want := range map[int64][2]bool{5: {true, true}, 4: {false, true}, 3: {false, false}} {
		o := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"deletionTimestamp": "2026-01-01T10:00:00Z", "generation": int64(5)},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False",
				"message": "cannot delete the bucket: blocked", "lastTransitionTime": "2026-01-01T10:00:01Z", "observedGeneration": observed}}}}}
		_, of := status.OfDeletion(o)
		_, failed := status.FailedSince(o)
		_, told := status.ToldSince(o)
		_, still := status.StillFailing(o)
		_, blocks := status.Blocks(o)
		if of != want[0] || failed != want[0] || told != want[0] || still != want[1] || blocks != want[1] {
			t.Errorf("of generation %d: %v %v %v, still %v, blocks %v", observed, of, failed, told, still, blocks)
		}
	}
}

// TestToldSince: the last condition with a message since the deletion, unless that says that all is well.
func TestToldSince(t *testing.T) {
	t.Parallel()
	at := func(of, status, message, when string) any {
		return map[string]any{"type": of, "status": status, "message": message, "lastTransitionTime": "2026-01-01T" + when + ":00Z"}
	}
	for name, test := range map[string]struct {
		conditions []any
		want       string
	}{
		"a type of its own":      {[]any{at("Purge", "False", "120 objects are left", "10:01")}, "Purge"},
		"the last of two":        {[]any{at("Purge", "False", "m", "10:02"), at("Detach", "Unknown", "m", "10:01")}, "Purge"},
		"before the deletion":    {[]any{at("Purge", "False", "m", "09:00")}, ""},
		"all is well":            {[]any{at("Ready", "True", "it works", "10:01"), at("Failed", "False", "it works", "10:01")}, ""},
		"something else":         {[]any{at("Progressing", "True", "ReplicaSet has successfully progressed", "10:01")}, ""},
		"it is done":             {[]any{at("Purge", "True", "Deletion completed", "10:01")}, ""},
		"it tells of no failure": {[]any{at("Purge", "True", "failedReplicas: 0, errors: 0", "10:01")}, ""},
		"it tells of one":        {[]any{at("Purge", "True", "failedReplicas: 0, errors: 1", "10:01")}, "Purge"},
		"it is not":              {[]any{at("Purge", "True", "Deletion is not completed", "10:01")}, "Purge"},
		"without a message":      {[]any{at("Purge", "False", "", "10:01")}, ""},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"deletionTimestamp": "2026-01-01T10:00:00Z"},
			"status": map[string]any{"conditions": test.conditions}}}
		if c, told := status.ToldSince(o); c.Type != test.want || told != (test.want != "") {
			t.Errorf("%s: %q, want %q", name, c.Type, test.want)
		}
	}
}

// TestStillFailing: what failed before the deletion, or at a time that is not said, may still do.
func TestStillFailing(t *testing.T) {
	t.Parallel()
	condition := func(kind, is, message string, at any) any {
		return map[string]any{"type": kind, "status": is, "message": message, "lastTransitionTime": at}
	}
	const before = "2026-01-01T09:00:00Z"
	for name, c := range map[string]struct {
		conditions []any
		want       string
	}{
		"without a time":       {[]any{condition("ACK.Recoverable", "True", "must remove roles first", nil)}, "ACK.Recoverable"},
		"a failure before":     {[]any{condition("Ready", "False", "access denied", before)}, "Ready"},
		"a step before":        {[]any{condition("Ready", "False", "creates its pods", before)}, ""},
		"no message":           {[]any{condition("Ready", "False", "", nil)}, ""},
		"well":                 {[]any{condition("Ready", "True", "cannot be better", nil)}, ""},
		"of a deletion, first": {[]any{condition("Synced", "False", "failed to read", nil), condition("Ready", "False", "cannot delete it", nil)}, "Ready"},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"deletionTimestamp": "2026-01-01T10:00:00Z"}, "status": map[string]any{"conditions": c.conditions}}}
		if got, failing := status.StillFailing(o); got.Type != c.want || failing != (c.want != "") {
			t.Errorf("%s: got %q, %v, want %q", name, got.Type, failing, c.want)
		}
	}
}

// TestTextsOfRefusals: what the server says of a quota and of a right, as controllers repeat it, and
// nothing like it.
func TestTextsOfRefusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`pods "a" is forbidden: exceeded quota: team.a-1, requested: pods=1, used: pods=4, limited: pods=4`: "team.a-1",
		"GCP says: Quota exceeded for disks": "",
		"exceeded quota: , requested":        "",
	} {
		if got := status.ExceededQuota(text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]status.Denied{
		`deployments.apps "a" is forbidden: User "system:serviceaccount:ns:name" cannot delete resource "deployments" in API group "apps" in the namespace "web"`: {
			AccountNamespace: "ns", Account: "name", Verb: "delete", Resource: "deployments", Group: "apps", Namespace: "web"},
		`User "system:serviceaccount:ns:name" cannot list resource "nodes" in API group "" at the cluster scope`: {
			AccountNamespace: "ns", Account: "name", Verb: "list", Resource: "nodes"},
		`User "jane" cannot delete resource "deployments" in API group "apps"`: {},
	} {
		if got, _ := status.DeniedRight(text); got != want {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

// TestApproved: only what was said since the deletion began lets an actor go on.
func TestApproved(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		deleted, approved any
		want              bool
	}{
		{"2026-05-01T12:00:00Z", "2026-05-01T12:00:00Z", true},
		{"2026-05-01T12:00:00Z", "2026-05-01T14:30:00+02:00", true},
		{"2026-05-01T12:00:00Z", "2026-05-01T11:59:59Z", false},
		{"2026-05-01T12:00:00Z", "true", false},
		{"2026-05-01T12:00:00Z", nil, false},
		{nil, "2026-05-01T12:00:00Z", false},
	} {
		metadata := map[string]any{"name": "a"}
		if tt.deleted != nil {
			metadata["deletionTimestamp"] = tt.deleted
		}
		if tt.approved != nil {
			metadata["annotations"] = map[string]any{"example.com/approved": tt.approved}
		}
		o := &unstructured.Unstructured{Object: map[string]any{"metadata": metadata}}
		if got := status.Approved(o, "example.com/approved"); got != tt.want {
			t.Errorf("deleted at %v, approved at %v: %t", tt.deleted, tt.approved, got)
		}
	}
}

func TestSaysWaiting(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"LoadBalancers have been deleted, waiting for them to be destroyed.":      true,
		"Waits until the backup is gone":                                          true,
		"Cluster namespace is still terminating, some resources might be blocked": true,
		"Reconciled the namespace":                                                false,
		"Created the Service awaited":                                             false,
		"waiting":                                                                 false,
	} {
		if got := status.SaysWaiting(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
