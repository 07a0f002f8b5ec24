package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// OfCluster writes what a command prints of one of several clusters: a text of a line, and each line
// of a list, after the cluster's name; any other below it. Nothing is written of no text.
func OfCluster(w io.Writer, cluster, text string, list bool) error {
	text = strings.TrimSuffix(text, "\n")
	switch {
	case text == "":
		return nil
	case !list && strings.Contains(text, "\n"):
		_, err := fmt.Fprintf(w, "cluster %s:\n%s\n\n", Escape(cluster), text)
		return err
	}
	for line := range strings.SplitSeq(text, "\n") {
		if _, err := fmt.Fprintf(w, "%s: %s\n", Escape(cluster), line); err != nil {
			return err
		}
	}
	return nil
}

// ClusterMetrics are the metrics of one of several clusters.
type ClusterMetrics struct {
	Ref v1alpha1.ClusterRef
	// Text is in the text format of Prometheus, with the labels of the cluster. Read is false of a
	// cluster that could not be asked.
	Text string
	Read bool
}

// ManyMetrics writes the metrics of several clusters as those of one: each family stands once. One
// more family says which clusters were read.
func ManyMetrics(w io.Writer, clusters []ClusterMetrics) error {
	type family struct{ head, series []string }
	families := map[string]*family{}
	var order []string
	of := func(name string) *family {
		if families[name] == nil {
			families[name] = &family{}
			order = append(order, name)
		}
		return families[name]
	}
	read, described := map[string]float64{}, map[string]int{} // by which cluster
	for i, c := range clusters {
		label := clusterLabels(c.Ref)
		read[label] = 0
		if c.Read {
			read[label] = 1
		}
		for line := range strings.Lines(c.Text) {
			line = strings.TrimSuffix(line, "\n")
			if words := strings.SplitN(line, " ", 4); words[0] == "#" {
				if len(words) < 3 {
					continue // the end
				}
				f := of(words[2])
				if by, is := described[words[2]]; !is || by == i {
					described[words[2]], f.head = i, append(f.head, line)
				}
				continue
			}
			name := line[:strings.IndexAny(line, "{ ")]
			of(name).series = append(of(name).series, line)
		}
	}
	m := newMetrics(w, "kubectl_gc_", nil)
	for _, name := range order {
		for _, line := range append(families[name].head, families[name].series...) {
			fmt.Fprintln(m.out, line)
		}
	}
	m.family("cluster_read", "Whether the cluster could be read.", read)
	return m.end()
}
