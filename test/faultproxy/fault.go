package faultproxy

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Status answers with a Status object as the API server would.
func Status(code int, reason metav1.StatusReason, message string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
		})
	}
}

// Plain answers with a text, as something that is no API server would.
func Plain(code int, body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// RetryAfter answers 429 and the seconds to wait.
func RetryAfter(seconds int) Fault {
	busy := Status(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests,
		"too many requests, please try again later")
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		busy(w, r, next)
	}
}

// Hang answers nothing until the client goes away.
func Hang() Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body) // a server does not see the client go while there is something to read
		<-r.Context().Done()
	}
}

// Delay waits before it passes the request on.
func Delay(d time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		select {
		case <-time.After(d):
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}
}

// Reset breaks the connection without an answer. A panic with http.ErrAbortHandler is what net/http
// documents for it (https://pkg.go.dev/net/http#ErrAbortHandler).
func Reset() Fault {
	return func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
}

// Truncate passes on the first n bytes of the answer, as they come, and then breaks the connection.
func Truncate(n int) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r.Header.Set("Accept-Encoding", "identity")
		next.ServeHTTP(&beginning{w, n}, r)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler) // as in Reset
	}
}

// beginning passes on the first bytes that are written, and fails at those that follow.
type beginning struct {
	http.ResponseWriter
	left int
}

// Write implements io.Writer.
func (b *beginning) Write(p []byte) (int, error) {
	n, err := b.ResponseWriter.Write(p[:min(len(p), b.left)])
	b.left -= n
	_ = http.NewResponseController(b.ResponseWriter).Flush()
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}

// Unwrap implements what http.ResponseController asks for.
func (b *beginning) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// JSONOnly takes protobuf out of what the client accepts.
func JSONOnly() Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		acceptJSON(r)
		next.ServeHTTP(w, r)
	}
}

func acceptJSON(r *http.Request) {
	accepted := slices.DeleteFunc(strings.Split(r.Header.Get("Accept"), ","),
		func(a string) bool { return strings.Contains(a, "protobuf") })
	r.Header.Set("Accept", strings.Join(accepted, ","))
}

// Edit changes the body of an answer, which it has the server send in JSON.
func Edit(edit func(any) any) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		acceptJSON(r)
		answer := record(r, next)
		var v any
		if err := json.Unmarshal(answer.Body.Bytes(), &v); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		var out bytes.Buffer
		_ = json.NewEncoder(&out).Encode(edit(v))
		for key, values := range answer.Header() {
			w.Header()[key] = values
		}
		w.Header().Set("Content-Length", strconv.Itoa(out.Len()))
		w.WriteHeader(answer.Code)
		_, _ = w.Write(out.Bytes())
	}
}

// Times applies a fault to the first n requests and passes the others on.
func Times(n int, fault Fault) Fault {
	var count atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if count.Add(1) > int64(n) {
			next.ServeHTTP(w, r)
			return
		}
		fault(w, r, next)
	}
}

// record takes the server's answer, uncompressed.
func record(r *http.Request, next http.Handler) *httptest.ResponseRecorder {
	r.Header.Set("Accept-Encoding", "identity")
	answer := httptest.NewRecorder()
	next.ServeHTTP(answer, r)
	return answer
}
