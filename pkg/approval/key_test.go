package approval

import (
	"encoding/json"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// FuzzAKeyIsTheArrayThatJSONWrites, whatever stands in a name: a digest does not change with who writes it.
func FuzzAKeyIsTheArrayThatJSONWrites(f *testing.F) {
	for _, s := range []string{"", "web-5d79f54576", "example.com/one", `a"b\c`, "<&>", "\x00\x1f\x7f", "\xff\xfe", "ü\u2028", `","`} {
		f.Add(s, "other", int64(len(s)), len(s)%2 == 0)
	}
	f.Fuzz(func(t *testing.T, a, b string, n int64, yes bool) {
		k := new(key)
		k.begin("another").text(b).end()
		got := string(k.begin(a).text(b).number(n).truth(yes).list().list(b, a).object(v1alpha1.ObjectRef{APIVersion: "g/v1", Kind: a, Namespace: b, Name: a, UID: b}).end())
		want, err := json.Marshal([]any{a, b, n, yes, []string(nil), []string{b, a}, []string{b, "g", a, b, a}})
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
