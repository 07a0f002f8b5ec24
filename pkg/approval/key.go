package approval

import (
	"encoding/json"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// key is what identifies an entry of a plan: a JSON array, so that no two are written alike. It is as encoding/json writes it, and written without it, because a
// plan may have a million. Its methods add to it and return it. A key that is begun takes the place of the one before.
type key struct{ json []byte }

// begin begins the key of an entry of a kind.
func (k *key) begin(kind string) *key {
	k.json = append(k.json[:0], '[')
	return k.text(kind)
}

// end returns the key, which holds until the next is begun.
func (k *key) end() []byte {
	k.json[len(k.json)-1] = ']'
	return k.json
}

func (k *key) text(s string) *key {
	k.json = append(appendText(k.json, s), ',')
	return k
}

func (k *key) number(n int64) *key {
	k.json = append(strconv.AppendInt(k.json, n, 10), ',')
	return k
}

func (k *key) truth(b bool) *key {
	k.json = append(strconv.AppendBool(k.json, b), ',')
	return k
}

// list adds a list of texts, null if there are none.
func (k *key) list(texts ...string) *key {
	if len(texts) == 0 {
		k.json = append(k.json, "null,"...)
		return k
	}
	k.json = append(k.json, '[')
	for _, s := range texts {
		k.text(s)
	}
	k.json = append(k.end(), ',')
	return k
}

// object adds what identifies an object: its uid, and where it stands. The version of the API in which it was listed says nothing about it.
func (k *key) object(o v1alpha1.ObjectRef) *key {
	return k.list(o.UID, group(o.APIVersion), o.Kind, o.Namespace, o.Name)
}

// appendText appends a JSON string. Names and uids seldom have anything that needs to be escaped.
func appendText(to []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			escaped, err := json.Marshal(s)
			if err != nil {
				panic("a text cannot be written as JSON: " + err.Error()) // it can, as what is not UTF-8 is replaced; to go on would leave a name out of what is approved
			}
			return append(to, escaped...)
		}
	}
	to = append(to, '"')
	to = append(to, s...)
	return append(to, '"')
}
