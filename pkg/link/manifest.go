package link

import (
	"fmt"
	"iter"
	"strings"

	"sigs.k8s.io/yaml"
)

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
