package plane

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/pki"
)

func TestProbe(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte("[+]job-controller ok"))
	}))
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	other, err := pki.NewAuthority("other")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name        string
		ca          []byte
		token, text string
		want        string // in the error
	}{
		{"good", ca, "secret", "-controller ok", ""},
		{"not there yet", ca, "secret", "deployment-controller ok", "200 OK: [+]job-controller ok"},
		{"wrong token", ca, "guess", "", "401"},
		{"another server took the port", other.Cert, "secret", "", "certificate"},
	} {
		p, err := newProbe(server.URL, test.ca, test.token)
		if err != nil {
			t.Fatal(err)
		}
		err = p.says(test.text)(t.Context())
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func TestErrorsNameTheLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "etcd.log")
	if err := os.WriteFile(log, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := withTail(os.ErrDeadlineExceeded, log, 2).Error()
	if !strings.Contains(got, log) || !strings.HasSuffix(got, "two\nthree") || strings.Contains(got, "one") {
		t.Errorf("%s", got)
	}
}
