package env

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// WithRows adds the format of rows.
func (o *Output) WithRows() *Output {
	o.rows = true
	return o
}

// HasRows says whether rows are printed, which are of what was found or planned, and not of what was
// done.
func (o *Output) HasRows() bool { return o.rows && o.Format() == rowLines }

// addRowFlags adds what goes with rows.
func (o *Output) addRowFlags(cmd *cobra.Command) {
	o.command = cmd.Name()
	cmd.Flags().StringVar(&o.out, "out", "",
		"With -o ndjson: folder to write the rows to, as cluster=UID/date=DATE/COMMAND-TIME.ndjson, instead of to standard output")
	_ = cmd.MarkFlagDirname("out") // it exists
}

// checkOut finds out whether there can be files of rows, before anything is asked of the server.
func (o *Output) checkOut(cmd *cobra.Command) error {
	switch {
	case !cmd.Flags().Changed("out"):
		return nil
	case !o.HasRows():
		return Usage(cmd, "--out is for rows; add -o %s", rowLines)
	case o.out == "":
		return Usage(cmd, "--out needs the name of a folder")
	}
	if err := os.MkdirAll(o.out, 0o700); err != nil {
		return Usage(cmd, "--out: %w", err)
	}
	return nil
}

// writeRows prints what there is in an object a row on each line, and first that it was looked for.
func (o *Output) writeRows(w io.Writer, object Document) error {
	rows, has := v1alpha1.Rows(object, o.env.ClusterRef())
	if !has {
		return fmt.Errorf("-o %s is not for a %s; use -o %s", rowLines, object.GetObjectKind().GroupVersionKind().Kind, jsonLine)
	}
	return o.WriteRows(w, o.env.ErrOut, rows)
}

// WriteRows prints the rows of a cluster, of which there is one at least, or puts them into a file of
// the folder of --out, and says which.
func (o *Output) WriteRows(w, errOut io.Writer, rows []v1alpha1.Row) error {
	encode := func(w io.Writer) error {
		out := json.NewEncoder(w)
		for _, row := range rows {
			if err := out.Encode(row); err != nil {
				return err
			}
		}
		return nil
	}
	if o.out == "" {
		return encode(w)
	}
	file, err := writePart(o.out, o.command, rows[0], encode)
	if err != nil {
		return fmt.Errorf("writing rows to the folder %s: %w", o.out, err)
	}
	_, err = fmt.Fprintf(errOut, "Wrote %s to %s\n", phrase.Count(len(rows), "row"), render.Escape(file))
	return err
}

// unknownCluster stands for the uid of a cluster that did not say it.
const unknownCluster = "unknown"

// partition is what may name a folder. A uid comes from a server, which can answer anything: no
// separator, no dots.
var partition = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`)

// writePart writes a file into a folder that is partitioned by cluster and day, as Hive has it, and
// returns its name. It is there when it is whole, and no other is overwritten: two contexts can be of
// one cluster.
func writePart(folder, command string, of v1alpha1.Row, write func(io.Writer) error) (string, error) {
	cluster, at := of.ClusterUID, of.ObservedAt.UTC()
	if cluster == "" {
		cluster = unknownCluster
	}
	if !partition.MatchString(cluster) {
		return "", fmt.Errorf("the uid of the namespace kube-system of %s is %q, which names no folder", of.Server, cluster)
	}
	folder = filepath.Join(folder, "cluster="+cluster, "date="+at.Format(time.DateOnly))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	name := filepath.Join(folder, command+"-"+at.Format("20060102T150405Z"))
	for n := 1; ; n++ {
		file := name + ".ndjson"
		if n > 1 {
			file = fmt.Sprintf("%s-%d.ndjson", name, n)
		}
		if _, err := os.Lstat(file); err == nil {
			continue
		}
		if err := archive.Write(file, write); !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
}
