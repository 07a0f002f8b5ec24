package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// ClusterMetrics are the metrics of one of several clusters.
type ClusterMetrics struct {
	// Cluster is its context, and UID that of the namespace kube-system; empty if it was not read.
	Cluster, UID string
	// Text is in the text format of Prometheus. Read is false of a cluster that could not be asked.
	Text string
	Read bool
}

// ManyMetrics writes the metrics of several clusters as those of one: each series has a label with its
// cluster, and each family stands once. One more family says which clusters were read.
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
		label := seriesLabel("cluster", c.Cluster) + "," + seriesLabel("cluster_uid", c.UID)
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
			name, rest, labelled := strings.Cut(line, "{")
			if labelled {
				line = name + "{" + label + "," + rest
			} else {
				name, rest, _ = strings.Cut(line, " ")
				line = name + "{" + label + "} " + rest
			}
			of(name).series = append(of(name).series, line)
		}
	}
	m := metrics{bufio.NewWriter(w), "kubectl_gc_"}
	for _, name := range order {
		for _, line := range append(families[name].head, families[name].series...) {
			fmt.Fprintln(m.out, line)
		}
	}
	m.family("cluster_read", "Whether the cluster could be read.", read)
	return m.end()
}
