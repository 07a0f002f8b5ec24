package explain

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// ReadObjects reads the objects in the files *.yaml, *.yml and *.json of a folder, in the order of
// the names of the files: all documents of each, and the items of Lists. An error names the file
// and the document.
func ReadObjects(fsys fs.FS, dir string) ([]*unstructured.Unstructured, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("reading objects: %w", err)
	}
	var objects []*unstructured.Unstructured
	var errs []error
	for _, entry := range entries {
		if entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(entry.Name())) {
			continue
		}
		file := path.Join(dir, entry.Name())
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			errs = append(errs, fmt.Errorf("reading objects: %w", err))
			continue
		}
		read, err := readFile(file, data)
		objects, errs = append(objects, read...), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("no objects found in %s: put them there as files *.yaml", dir)
	}
	return objects, nil
}

func readFile(file string, data []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for i := 1; ; i++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err == nil {
			var read []*unstructured.Unstructured
			read, err = readDocument(document)
			objects = append(objects, read...)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: document %d: %w", file, i, err)
		}
	}
}

// readDocument returns the object of a document, or those of a List. A document that has nothing
// but comments has none.
func readDocument(document []byte) ([]*unstructured.Unstructured, error) {
	asJSON, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, err
	}
	var content any
	if err := json.Unmarshal(asJSON, &content); err != nil || content == nil {
		return nil, err
	}
	fields, ok := content.(map[string]any)
	if !ok {
		return nil, errors.New("it is no object")
	}
	o := &unstructured.Unstructured{Object: fields}
	if !o.IsList() {
		return []*unstructured.Unstructured{o}, check(o)
	}
	var items []*unstructured.Unstructured
	err = o.EachListItem(func(item runtime.Object) error {
		o, ok := item.(*unstructured.Unstructured)
		if !ok {
			return errors.New("an item is no object")
		}
		items = append(items, o)
		return check(o)
	})
	return items, err
}

func check(o *unstructured.Unstructured) error {
	if o.GetAPIVersion() == "" || o.GetKind() == "" || o.GetName() == "" {
		return errors.New("an object needs apiVersion, kind and metadata.name")
	}
	return nil
}
