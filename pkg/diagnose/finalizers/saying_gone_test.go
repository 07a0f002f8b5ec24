package finalizers

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestGone(t *testing.T) {
	t.Parallel()
	const parent, perhaps, referred = "everything in it went with it", "answered it 403", "still depends on it"
	for message, want := range map[string]string{
		"Google Compute Engine: Project #123 has been deleted":                                                          parent,
		"Project shop-1 has been scheduled for deletion and cannot be used for API calls":                               parent,
		"timed out deleting ELB: shop. Could not delete security groups sg-04f7679bdc2937e60":                           referred,
		"deleting sg-1: DependencyViolation: resource sg-1 has a dependent object status code: 400":                     referred,
		"could not delete the pods of the group":                                                                        "",
		"could not delete security group rule: 403 Forbidden":                                                           referred,
		"a violation of a dependency between modules":                                                                   "",
		"service account shop@example.iam.gserviceaccount.com has been deleted":                                         "",
		"Error when deleting Service Account Key: key 1 in project shop-1 was deleted by somebody else":                 "",
		"googleapi: Error 403: Compute Engine API has not been used in project 1 before or it is disabled.":             "",
		"googleapi: Error 403: This API method requires billing to be enabled., forbidden":                              "",
		"https response error StatusCode: 403, RequestID: 1, api error ExpiredToken: The security token is expired":     "",
		"DELETE https://api.github.com/repos/a/b/hooks/1: response 403 API rate limit exceeded for user ID 1":           "",
		"deleting SQLInstance shop failed: googleapi: Error 403: The caller does not have permission":                   perhaps,
		"deleting bucket: status code: 403, request id: 1":                                                              perhaps,
		"AccessDenied: User: arn:aws:iam::1:user/x is not authorized to perform: s3:DeleteBucket status code: 403":      "",
		"googleapi: Error 403: Permission 'spanner.instances.delete' denied on resource (or it may not exist)":          perhaps,
		"googleapi: Error 403: Permission 'spanner.instances.delete' denied on resource 'shop'":                         "",
		"configmaps is forbidden: User \"system:serviceaccount:a:b\" cannot list resource \"configmaps\" 403 Forbidden": "",
	} {
		got := saying{message: message, ofDeletion: true}.gone("it")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q", message, got)
		}
		if got := (saying{message: message}).gone("it"); got != "" {
			t.Errorf("%q, which does not tell of the deletion: %q", message, got)
		}
	}
}

// TestWhatKeepsItselfIsNotPromisedToGo: nobody is told to let somebody finish who is told to keep it,
// nor that removing the finalizer ends it.
func TestWhatKeepsItselfIsNotPromisedToGo(t *testing.T) {
	t.Parallel()
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Cluster",
		"spec": map[string]any{"terminationPolicy": "DoNotTerminate"}}}
	s := guarded(o)
	const want = "Op is alive, and may keep the object because of that: to have it deleted, with everything that goes with it, " +
		"change its spec.terminationPolicy."
	if got := s.remedy("Op", true); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	o.SetAPIVersion("apps/v1")
	if s := guarded(o); s.what != "" {
		t.Errorf("a built-in object has no such field: %+v", s)
	}
}
