package render

import (
	"fmt"
	"io"
	"strings"
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
