package dump

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf16"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// document is an object of a file, or a list of some.
type document struct {
	// apiVersion and kind are those of the list, or of the object.
	apiVersion, kind string
	// list says that it is a list, of some or of all objects, and continues that it says of itself
	// that there are more.
	list, continues bool
	items           [][]byte // JSON
	// plan is what the first document of an archive of kubectl gc says of it.
	plan *planHead
}

// planHead are the fields of the plan of an archive that are read.
type planHead struct {
	APIVersion, Kind, Cluster, ArchivedAt string
}

var (
	errNoObject = errors.New("it holds no object")
	errLogs     = errors.New("it has logs between its objects: run kubectl cluster-info dump with --output-directory, " +
		"which writes a folder")
)

// decode reads the documents of a file: JSON or YAML, of which there may be several.
func decode(content []byte) ([]document, error) {
	var docs []document
	for _, text := range documents(bytes.TrimPrefix(fromUTF16(content), []byte("\xef\xbb\xbf"))) {
		doc, err := decodeDocument(text)
		if err != nil {
			return nil, err
		}
		docs = append(docs, unfolded(doc, deepest)...)
	}
	return docs, nil
}

// deepest is how deep lists lie in lists, at most.
const deepest = 8

// unfolded returns the documents, and of lists of lists, as jq makes them of several, the inner ones
// in their place.
func unfolded(docs []document, levels int) []document {
	var inner []document
	for i, doc := range docs {
		items := slices.DeleteFunc(doc.items, func(item []byte) bool {
			if levels == 0 || !doc.list || !bytes.Contains(item, []byte(`List"`)) || !bytes.Contains(item, []byte(`"items":`)) {
				return false
			}
			list, err := decodeJSON(item)
			if err != nil || len(list) != 1 || !list[0].list {
				return false
			}
			inner = append(inner, unfolded(list, levels-1)...)
			return true
		})
		if len(items) < len(doc.items) && len(items) == 0 {
			docs[i].list = false // nor is it a list of none
		}
		docs[i].items = items
	}
	return append(docs, inner...)
}

// fromUTF16 returns text in UTF-8. Windows PowerShell redirects in UTF-16.
func fromUTF16(content []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	if bytes.HasPrefix(content, []byte("\xfe\xff")) {
		order = binary.BigEndian
	} else if !bytes.HasPrefix(content, []byte("\xff\xfe")) {
		return content
	}
	units := make([]uint16, len(content)/2-1)
	for i := range units {
		units[i] = order.Uint16(content[2+2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// decodeJSON reads values that stand one after the other. With an error it returns those before it.
func decodeJSON(content []byte) ([]document, error) {
	var docs []document
	dec := json.NewDecoder(bytes.NewReader(content))
	for dec.More() {
		begin := dec.InputOffset()
		doc := document{}
		open, err := dec.Token()
		switch {
		case err != nil:
			return docs, err
		case open == json.Delim('['):
			doc.list = true
			err = doc.readItems(dec)
		case open == json.Delim('{'):
			err = doc.readFields(dec)
		default:
			err = errNoObject
		}
		if err == nil && !doc.list {
			doc.items, err = compacted(nil, content[begin:dec.InputOffset()])
		}
		if err != nil {
			return docs, err
		}
		docs = append(docs, doc)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) { // what closes nothing
		return docs, cmp.Or(err, errNoObject)
	}
	return docs, nil
}

// readFields reads what tells a list from another object, and the items of a list.
func (d *document) readFields(dec *json.Decoder) error {
	hasItems := false
	var metadata json.RawMessage
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var into any
		switch key {
		case "apiVersion":
			into = &d.apiVersion
		case "kind":
			into = &d.kind
		case "metadata":
			into = &metadata
		case "items":
			open, err := dec.Token()
			if err != nil {
				return err
			}
			switch open {
			case nil: // an empty list of a program written in Go
				hasItems = true
				continue
			case json.Delim('['):
				hasItems = true
				if err := d.readItems(dec); err != nil {
					return err
				}
				continue
			}
			if _, nested := open.(json.Delim); nested {
				return errors.New("items is no list")
			}
			continue
		default:
			into = &json.RawMessage{}
		}
		if err := dec.Decode(into); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return err
	}
	if d.list = hasItems && (d.kind == "" || strings.HasSuffix(d.kind, "List")); !d.list {
		d.items = nil
		return nil
	}
	var page struct{ Continue string }
	d.continues = metadata != nil && json.Unmarshal(metadata, &page) != nil || page.Continue != ""
	return nil
}

func (d *document) readItems(dec *json.Decoder) error {
	for dec.More() {
		var item json.RawMessage
		if err := dec.Decode(&item); err != nil {
			return err
		}
		var err error
		if d.items, err = compacted(d.items, item); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// compacted appends JSON without the blanks between its elements.
func compacted(to [][]byte, raw []byte) ([][]byte, error) {
	var b bytes.Buffer
	b.Grow(len(raw))
	if err := json.Compact(&b, raw); err != nil {
		return nil, err
	}
	return append(to, bytes.Clone(b.Bytes())), nil
}

// documents cuts a stream of YAML where documents begin, after which some of one can stand in the
// same line, and where they end.
func documents(content []byte) [][]byte {
	var docs [][]byte
	begin, at := 0, 0
	for line := range bytes.Lines(content) {
		rest, is := bytes.CutPrefix(line, []byte("---"))
		if !is {
			rest, is = bytes.CutPrefix(line, []byte("..."))
		}
		if is && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0) {
			docs = append(docs, content[begin:at])
			begin = at + len(line) - len(rest)
		}
		at += len(line)
	}
	return append(docs, content[begin:])
}

// decodeDocument reads what stands between two separators: JSON, of which several values can stand
// there, or YAML. A list that is laid out as kubectl does is decoded item by item: the library takes
// many times the memory of what it decodes.
func decodeDocument(text []byte) ([]document, error) {
	value := bytes.TrimSpace(text)
	for len(value) > 0 && (value[0] == '#' || value[0] == '%') { // a comment, or a directive of YAML
		_, value, _ = bytes.Cut(value, []byte("\n"))
		value = bytes.TrimSpace(value)
	}
	switch {
	case len(value) == 0:
		return nil, nil
	case value[0] == '{' || value[0] == '[':
		docs, err := decodeJSON(value)
		if err != nil && bytes.Contains(value, []byte("\n==== START logs for container ")) {
			return nil, errLogs
		}
		if err == nil || len(docs) > 0 || len(value) > maxPiece || !isOne(value) { // the flow style of YAML begins so, too
			return docs, err
		}
	}
	if plan, ok := readPlan(text); ok {
		return []document{{apiVersion: plan.APIVersion, kind: plan.Kind, plan: plan}}, nil
	}
	if doc, ok := decodeItems(text); ok {
		return []document{doc}, nil
	}
	raw, err := toJSON(text)
	if err != nil || string(raw) == "null" {
		return nil, err
	}
	docs, err := decodeJSON(raw)
	for _, doc := range docs {
		if doc.list && doc.kind == "" && raw[0] == '{' {
			return nil, errCutOff
		}
	}
	return docs, err
}

// isOne returns whether YAML is one value, after which nothing comes: a decoder stops there.
func isOne(text []byte) bool {
	dec, node := yamlv3.NewDecoder(bytes.NewReader(text)), yamlv3.Node{}
	return dec.Decode(&node) == nil && errors.Is(dec.Decode(&node), io.EOF)
}

// errCutOff is of a list in YAML, which can be cut off at any line and still be YAML. Keys are in the
// order of the alphabet, so that the kind of the list comes after its items.
var errCutOff = errors.New("the list is cut off: it does not say its kind")

// decodeItems decodes a list item by item. It is false for a document that is no list, or is laid
// out otherwise than it seems.
func decodeItems(text []byte) (document, bool) {
	head, items, ok := cutItems(text)
	if !ok {
		return document{}, false
	}
	raw, err := toJSON(head)
	var list struct {
		APIVersion, Kind string
		Metadata         struct{ Continue string }
	}
	if err != nil || json.Unmarshal(raw, &list) != nil || !strings.HasSuffix(list.Kind, "List") {
		return document{}, false
	}
	doc := document{apiVersion: list.APIVersion, kind: list.Kind, list: true, continues: list.Metadata.Continue != ""}
	for _, item := range items {
		raw, err := toJSON(item)
		if err != nil {
			return document{}, false
		}
		doc.items = append(doc.items, raw)
	}
	return doc, true
}

// cutItems cuts a list at its items.
func cutItems(text []byte) (head []byte, items [][]byte, ok bool) {
	within := false
	for line := range bytes.Lines(text) {
		trimmed := bytes.TrimRight(line, " \t\r\n")
		switch {
		case string(trimmed) == "items:" && !ok:
			within, ok = true, true
		case within && (bytes.HasPrefix(line, []byte("- ")) || string(trimmed) == "-"):
			items = append(items, append([]byte(" "), line[1:]...))
		case line[0] == '-':
			return nil, nil, false
		case within && (len(trimmed) == 0 || line[0] == ' '):
			if len(items) == 0 {
				if len(trimmed) == 0 {
					continue
				}
				return nil, nil, false // an indented list, or no list
			}
			items[len(items)-1] = append(items[len(items)-1], line...)
		default:
			within = false
			head = append(head, line...)
		}
	}
	return head, items, ok && len(items) > 0
}

// readPlan reads the head of an archive of kubectl gc: lines of the document's own fields, since the
// plan of a large cascade is long.
func readPlan(text []byte) (*planHead, bool) {
	own := []byte("apiVersion: gc.kubectl.dev/")
	if !bytes.HasPrefix(text, own) && !bytes.Contains(text, append([]byte("\n"), own...)) {
		return nil, false
	}
	var head []byte
	for line := range bytes.Lines(text) {
		for _, key := range []string{"apiVersion:", "kind:", "cluster:", "archivedAt:"} {
			if bytes.HasPrefix(line, []byte(key)) && len(line) < 1000 {
				head = append(head, line...)
			}
		}
	}
	plan := &planHead{}
	return plan, yaml.Unmarshal(head, plan) == nil && strings.HasPrefix(plan.APIVersion, "gc.kubectl.dev/")
}

// toJSON converts YAML, of which no more comes than an object can have. Aliases, with which little
// text becomes much, are an error: no server and no client writes them.
func toJSON(text []byte) ([]byte, error) {
	if len(text) > maxPiece {
		return nil, tooLarge("a YAML document of more than %d MiB", maxPiece>>20)
	}
	if bytes.IndexByte(text, '&') >= 0 && bytes.IndexByte(text, '*') >= 0 {
		var node yamlv3.Node
		if err := yamlv3.Unmarshal(text, &node); err != nil {
			return nil, err
		}
		if hasAlias(&node) {
			return nil, errAlias
		}
	}
	return yaml.YAMLToJSON(text)
}

var errAlias = errors.New("it has an alias of YAML, which is in no answer of an API server")

func hasAlias(node *yamlv3.Node) bool {
	return node.Kind == yamlv3.AliasNode || slices.ContainsFunc(node.Content, hasAlias)
}
