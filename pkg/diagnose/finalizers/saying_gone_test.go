package finalizers

import (
	"strings"
	"testing"
)

func TestGone(t *testing.T) {
	t.Parallel()
	const parent, perhaps = "everything in it went with it", "answered it 403"
	for message, want := range map[string]string{
		"Google Compute Engine: Project #123 has been deleted":                                                          parent,
		"Project shop-1 has been scheduled for deletion and cannot be used for API calls":                               parent,
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
