package archive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"go.yaml.in/yaml/v2"
)

// document returns a value of decoded JSON as a document of a YAML stream, in the words of kubectl -o
// yaml. The library is the one that kubectl reads with. There are two things in an object that it
// does not write so that it reads back; the document is then JSON on one line, which is YAML too:
//
//   - a text that ends the document and itself in one of Unicode's line breaks. YAML counts them
//     and kubectl, which looks for lines that begin with ---, does not: the next document would be
//     a part of this one;
//   - a key "<<", which stands without quotes and is read as a merge.
func document(object any) ([]byte, error) {
	if !hasMergeKey(object) {
		doc, err := yaml.Marshal(object)
		if err != nil {
			return nil, err
		}
		if bytes.HasSuffix(doc, []byte("\n")) {
			return doc, nil
		}
	}
	doc, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return append(printable(doc), '\n'), nil
}

func hasMergeKey(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if key == "<<" || hasMergeKey(value) {
				return true
			}
		}
	case []any:
		for _, value := range v {
			if hasMergeKey(value) {
				return true
			}
		}
	}
	return false
}

// printable spells out what JSON allows in a text and YAML does not.
func printable(doc []byte) []byte {
	var b bytes.Buffer
	for len(doc) > 0 {
		r, n := utf8.DecodeRune(doc)
		switch {
		case r >= 0x7f && r < 0xa0, r == 0xfeff, r == 0xfffe, r == 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.Write(doc[:n])
		}
		doc = doc[n:]
	}
	return b.Bytes()
}
