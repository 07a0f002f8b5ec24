package link

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

const (
	// maxDecoded is how many bytes a text may have once it is decoded. etcd holds objects of 1.5
	// MB; a release of Helm grows some ten times when it is unpacked.
	maxDecoded = 16 << 20
	// maxValues is how many values JSON may have: a few bytes of it make a hundred in memory.
	maxValues = 1 << 20
)

// decode undoes the encodings of a text. After JSON it is a value, before it text.
func decode(text string, encodings []Encoding) (any, error) {
	data := []byte(text)
	for _, encoding := range encodings {
		var err error
		switch encoding {
		case Base64:
			data, err = base64.StdEncoding.DecodeString(string(data))
		case Gzip:
			data, err = unzip(data)
		case JSON:
			var value any
			if bytes.Count(data, []byte{','}) >= maxValues {
				return nil, fmt.Errorf("decoding JSON: more than %d values", maxValues)
			}
			if err := utiljson.Unmarshal(data, &value); err != nil {
				return nil, fmt.Errorf("decoding JSON: %w", err)
			}
			return value, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decoding %s: %w", encoding, err)
		}
	}
	return string(data), nil
}

func unzip(data []byte) ([]byte, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer zipped.Close()
	all, err := io.ReadAll(io.LimitReader(zipped, maxDecoded+1))
	if err == nil && len(all) > maxDecoded {
		err = fmt.Errorf("more than %d MiB", maxDecoded>>20)
	}
	return all, err
}

// Annotations returns the keys of the annotations by which a source says what manages it, of a Lead
// whose ends a selector finds in one namespace, if they are all that the link reads of the source;
// false for any other link. Who lists objects with them need not read the objects to know what
// manages them.
func (d *Definition) Annotations() ([]string, bool) {
	if d.Deletion.Of != Lead {
		return nil, false
	}
	var paths []Path
	for _, c := range d.From.Where {
		paths = append(paths, c.path())
	}
	for _, e := range d.Ends {
		if e.Form != Labels || e.Namespace == AnyNamespace || !e.Field.IsZero() {
			return nil, false
		}
		paths = append(paths, placeholders(e.Labels+e.Name+string(e.Namespace))...)
	}
	var keys []string
	for _, p := range paths {
		switch key, is := p.annotation(); {
		case is && !slices.Contains(keys, key):
			keys = append(keys, key)
		case !is && !slices.Equal(p.steps, namespacePath.steps):
			return nil, false
		}
	}
	return keys, len(keys) > 0
}

// placeholders are the paths between the braces of a text.
func placeholders(text string) []Path {
	var paths []Path
	for _, p := range placeholder.FindAllString(text, -1) {
		if path, err := ParsePath(p[1 : len(p)-1]); err == nil { // a pack is checked when it is loaded
			paths = append(paths, path)
		}
	}
	return paths
}

// annotation returns the key of the annotation that the path leads to.
func (p Path) annotation() (string, bool) {
	if len(p.steps) != 3 || !slices.Equal(p.steps[:2], []string{"metadata", "annotations"}) {
		return "", false
	}
	return p.steps[2], true
}

// PVC says that a PersistentVolumeClaim was made for a pod of a StatefulSet, by its name. Without
// an ownerReference it does not go with it.
const PVC = "claim"

// PVCPrefix is what the names of the PersistentVolumeClaims begin with that a StatefulSet makes of
// a template; a hyphen and an ordinal follow (getPersistentVolumeClaimName,
// pkg/controller/statefulset/stateful_set_utils.go). They are in its namespace.
func PVCPrefix(template, set string) string { return template + "-" + set }

// PVCPrefixOf returns what such a name begins with, false for one that has no ordinal.
func PVCPrefixOf(pvc string) (string, bool) {
	i := strings.LastIndexByte(pvc, '-')
	if i < 0 || !isOrdinal(pvc[i+1:]) {
		return "", false
	}
	return pvc[:i], true
}

// isOrdinal is true for a number as %d prints it: digits, and no zero in front of others.
func isOrdinal(s string) bool {
	return s != "" && (s == "0" || s[0] != '0') && strings.Trim(s, "0123456789") == ""
}

// maxDocument is how many bytes a document of a manifest may have: etcd holds no larger object.
const maxDocument = 2 << 20

// manifests returns the objects of YAML documents. A document that is none, as one of comments, is
// passed over, and so is one that is there already.
func manifests(text string) ([]Named, error) {
	var all []Named
	seen := map[string]bool{}
	i := 0
	for document := range documents(text) {
		i++
		switch {
		case seen[document]:
			continue
		case len(seen) > maxEnds:
			return all, errTooMany
		case len(document) > maxDocument:
			return all, fmt.Errorf("document %d of the manifest has more than %d MiB", i, maxDocument>>20)
		}
		seen[document] = true
		var object struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Metadata   struct {
				Name      string `json:"name"`
				Namespace string `json:"namespace"`
			} `json:"metadata"`
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return all, fmt.Errorf("document %d of the manifest: %w", i, err)
		}
		n := Named{Kind: object.Kind, Name: object.Metadata.Name, Namespace: object.Metadata.Namespace}
		n.setAPIVersion(object.APIVersion)
		all = append(all, n)
	}
	return all, nil
}

// documents parts YAML at the lines that begin a document.
func documents(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		begin, at := 0, 0
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "---") {
				if !yield(text[begin:at]) {
					return
				}
				begin = at + len("---")
			}
			at += len(line)
		}
		yield(text[begin:])
	}
}
