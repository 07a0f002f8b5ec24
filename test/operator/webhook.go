package operator

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Webhook is an admission webhook that is served on the loopback interface until the end of the
// test.
type Webhook struct {
	// URL is where it is called, and CABundle what a webhook configuration needs to know it by.
	URL, CABundle string
}

// ServeWebhook serves one. Its answer denies a request with a message, or allows it with none; it
// is false if nobody answers.
func ServeWebhook(t testing.TB, answer func(*admissionv1.AdmissionRequest) (message string, up bool)) Webhook {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(w, "no review", http.StatusBadRequest)
			return
		}
		message, up := answer(review.Request)
		if !up {
			http.Error(w, "nobody answers", http.StatusServiceUnavailable)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: message == ""}
		if message != "" {
			review.Response.Result = &metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
				Message: message}
		}
		review.Request = nil
		_ = json.NewEncoder(w).Encode(review) // the API server says what it did not read
	}))
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return Webhook{URL: server.URL, CABundle: base64.StdEncoding.EncodeToString(ca)}
}
