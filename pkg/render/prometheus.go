package render

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// metrics writes gauges in the text format of Prometheus, which is OpenMetrics as well: families
// are not mixed, and the end is marked. No label has the name of an object, so that there are few
// series however much is wrong.
type metrics struct {
	out *bufio.Writer
	// prefix is that of all names, and labels are of all series.
	prefix, labels string
}

// newMetrics returns the metrics of a cluster; of is nil if none was asked.
func newMetrics(w io.Writer, prefix string, of *v1alpha1.ClusterRef) metrics {
	m := metrics{out: bufio.NewWriter(w), prefix: prefix}
	if of != nil {
		m.labels = clusterLabels(*of)
	}
	return m
}

// clusterLabels are the labels that say of which cluster a series is.
func clusterLabels(of v1alpha1.ClusterRef) string {
	return seriesLabel("cluster", of.Context) + "," + seriesLabel("cluster_uid", of.UID)
}

// family writes one metric with all of its series, by their labels; "" has none.
func (m metrics) family(name, help string, series map[string]float64) {
	name = m.prefix + name
	fmt.Fprintf(m.out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
	for _, own := range slices.Sorted(maps.Keys(series)) {
		labels := strings.Trim(m.labels+","+own, ",")
		if labels != "" {
			labels = "{" + labels + "}"
		}
		fmt.Fprintf(m.out, "%s%s %s\n", name, labels, number(series[own]))
	}
}

// single writes a metric of one series.
func (m metrics) single(name, help string, value float64) {
	m.family(name, help, map[string]float64{"": value})
}

// number has no exponent: whoever reads a file of metrics expects a time to look like one.
func number(f float64) string { return fmt.Sprintf("%.0f", f) }

// run writes what there is to say of every run: what it could not see, and when it was.
func (m metrics) run(gaps int, complete bool, now time.Time) {
	whole := 0.0
	if complete {
		whole = 1
	}
	m.single("gaps", "How many types could not be listed or read.", float64(gaps))
	m.single("complete", "Whether everything could be examined.", whole)
	m.single("last_run_timestamp_seconds", "When the command ran, in seconds since 1970.", float64(now.Unix()))
}

// end marks the end, and writes what is left.
func (m metrics) end() error {
	fmt.Fprintln(m.out, "# EOF")
	return m.out.Flush()
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// seriesLabel is one label of a series.
func seriesLabel(name, value string) string {
	return name + `="` + labelEscapes.Replace(Escape(value)) + `"`
}

// CheckMetrics writes a report in the text format of Prometheus, for a textfile collector: the
// findings by code, namespace and severity, whether the report is complete, and when it was made.
func CheckMetrics(w io.Writer, report *v1alpha1.CheckReport, now time.Time) error {
	m := newMetrics(w, "kubectl_gc_check_", report.ClusterRef)
	counts := map[string]float64{}
	for _, f := range report.Findings {
		counts[strings.Join([]string{seriesLabel("code", f.Code), seriesLabel("namespace", f.Object.Namespace),
			seriesLabel("severity", f.Severity)}, ",")]++
	}
	m.family("findings", "What is wrong with ownerReferences, namespaces and finalizers.", counts)
	m.single("objects", "How many objects were checked.", float64(report.Objects))
	m.single("references", "How many ownerReferences were checked.", float64(report.References))
	m.run(len(report.Gaps), report.Complete, now)
	return m.end()
}

// unexplainedCode is the label of objects that are stuck for no cause that was found.
const unexplainedCode = "Unexplained"

// DiagnosisMetrics writes a diagnosis in the text format of Prometheus: how many objects are stuck
// and for how long the oldest, by code, kind and namespace. An object counts once, for its first
// cause.
func DiagnosisMetrics(w io.Writer, d *v1alpha1.Diagnosis, now time.Time) error {
	m := newMetrics(w, "kubectl_gc_why_", d.ClusterRef)
	counts, oldest := map[string]float64{}, map[string]float64{}
	for _, s := range d.Stuck {
		if s.Since == nil {
			continue // it was asked about, and is not being deleted
		}
		code := unexplainedCode
		if len(s.Causes) > 0 {
			code = s.Causes[0].Code
		}
		ref := s.Object
		labels := strings.Join([]string{seriesLabel("code", code), seriesLabel("group", ref.Group()),
			seriesLabel("kind", ref.Kind), seriesLabel("namespace", ref.Namespace)}, ",")
		counts[labels]++
		oldest[labels] = max(oldest[labels], now.Sub(s.Since.Time).Seconds())
	}
	m.family("stuck_objects", "Objects that are stuck in deletion, each for its first cause.", counts)
	m.family("oldest_age_seconds", "How long ago the deletion began of the object that is stuck the longest.", oldest)
	m.single("not_examined_objects", "How many objects were not examined, because there are too many of their like.",
		float64(d.NotLookedAt))
	m.run(len(d.Gaps), d.Complete, now)
	return m.end()
}

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
