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
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// jsonLine is the format of one object on one line, for logs, and rowLines that of v1alpha1.Rows, for
// databases.
const (
	jsonLine = "jsonl"
	rowLines = "ndjson"
)

// Output are -o and what goes with it.
type Output struct {
	// own are the formats that the command prints itself, besides the table that is printed without -o.
	own       []string
	print     *genericclioptions.PrintFlags
	noHeaders bool
	// env says which cluster was asked, and rows that the command, of that name, has rows. Out is the
	// folder for them; empty for none.
	env          *Env
	rows         bool
	command, out string
}

// NewOutput returns -o with the formats that the command prints itself. What is printed says of which
// cluster it is.
func NewOutput(e *Env, own ...string) *Output {
	return &Output{env: e, own: own, print: genericclioptions.NewPrintFlags("")}
}

func (o *Output) formats() []string {
	// The name printer of cli-runtime wants one object with metadata; where it makes sense, the
	// command prints names itself.
	generic := slices.DeleteFunc(o.print.AllowedFormats(), func(f string) bool { return f == "name" })
	own := o.own
	if o.rows {
		own = append(slices.Clone(own), rowLines)
	}
	return append(slices.Concat(own, []string{jsonLine, customColumns, customColumnsFile}), generic...)
}

// Takes reports whether the format is one of those that are offered.
func (o *Output) Takes() bool {
	name, _, _ := strings.Cut(o.Format(), "=")
	return o.IsOwn() || slices.Contains(o.formats(), name)
}

// Add adds the flags to a command.
func (o *Output) Add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(o.print.OutputFormat, "output", "o", "",
		"Output format. One of: ("+strings.Join(o.formats(), ", ")+")")
	flags.BoolVar(&o.noHeaders, "no-headers", false, "Print tables, and custom columns, without headers")
	o.print.TemplatePrinterFlags.AddFlags(cmd)
	if o.rows {
		o.addRowFlags(cmd)
	}
	o.env.CompleteFlag(cmd, "output", cobra.FixedCompletions(o.formats(), cobra.ShellCompDirectiveNoFileComp))
}

// Format returns the format if it is one of the command's own, empty for the table.
func (o *Output) Format() string { return *o.print.OutputFormat }

// Wide reports whether the table is to be wide.
func (o *Output) Wide() bool { return o.Format() == "wide" }

// IsOwn reports whether the command prints the format itself.
func (o *Output) IsOwn() bool { return o.Format() == "" || slices.Contains(o.own, o.Format()) }

// Lines says for what a deletion prints a line; names says that where names are asked for.
func (o *Output) Lines(names render.DeletionLines) render.DeletionLines {
	switch {
	case o.Format() == "name":
		return names
	case o.IsOwn():
		return render.EventLines
	}
	return render.NoLines
}

// Validate finds a format that does not exist, or a template that does not parse, before anything
// is asked of the server.
func (o *Output) Validate(cmd *cobra.Command) error {
	var err error
	switch {
	case o.IsOwn(), o.Format() == jsonLine, o.HasRows():
	case o.hasColumns():
		_, err = o.columns()
	default:
		_, err = o.printer()
	}
	if err != nil {
		return UsageError(cmd, err)
	}
	return o.checkOut(cmd)
}

func (o *Output) printer() (printers.ResourcePrinter, error) {
	if o.Format() == "name" {
		return nil, fmt.Errorf("unable to match a printer suitable for the output format \"name\", allowed formats are: %s",
			strings.Join(o.formats(), ","))
	}
	p, err := o.print.ToPrinter()
	if genericclioptions.IsNoCompatiblePrinterError(err) {
		return nil, fmt.Errorf("unable to match a printer suitable for the output format %q, allowed formats are: %s",
			o.Format(), strings.Join(o.formats(), ","))
	}
	return p, err
}

// Of notes in an object of which cluster it is, if one was asked.
func (o *Output) Of(object any) {
	if of, has := object.(interface{ SetClusterRef(v1alpha1.ClusterRef) }); has && o.env.asked {
		of.SetClusterRef(o.env.ClusterRef())
	}
}

// Write prints an object in one of the formats of cli-runtime, or in columns of the user's own.
func (o *Output) Write(w io.Writer, object Document) error {
	o.Of(object)
	switch {
	case o.hasColumns():
		return o.writeColumns(w, object)
	case o.Format() == jsonLine:
		return json.NewEncoder(w).Encode(object)
	case o.HasRows():
		return o.writeRows(w, object)
	}
	p, err := o.printer()
	if err != nil {
		return err
	}
	return p.PrintObj(printable{object}, w)
}

// Document is a versioned object that is printed for programs.
type Document interface{ GetObjectKind() schema.ObjectKind }

// printable makes a document what the printers take.
type printable struct{ Document }

// DeepCopyObject implements runtime.Object: the printers change no document.
func (p printable) DeepCopyObject() runtime.Object { return p }

// MarshalJSON implements json.Marshaler. The printers of YAML read it as YAML first, which takes less
// than JSON does.
func (p printable) MarshalJSON() ([]byte, error) {
	doc, err := json.Marshal(p.Document)
	return archive.Printable(doc), err
}

// The formats with columns of the user's own, and what stands before the columns.
const (
	customColumns     = "custom-columns"
	customColumnsFile = "custom-columns-file"
)

// listed says which list of an object, by its kind, has the rows of custom columns. An object of
// another kind is a row itself.
var listed = map[string]string{
	"Archive": "objects", "CheckReport": "findings", "Diagnosis": "stuck", "Explanation": "finalizers",
	"LinkTest": "sources", "Plan": "actions", "RestorePlan": "actions", "RestoreResult": "done",
	"Result": "done", "Tree": "nodes",
}

// hasColumns reports whether the format is one with columns of the user's own.
func (o *Output) hasColumns() bool {
	format, _, _ := strings.Cut(o.Format(), "=")
	return format == customColumns || format == customColumnsFile
}

// columns reads the user's own columns.
func (o *Output) columns() (*render.Columns, error) {
	format, given, _ := strings.Cut(o.Format(), "=")
	if format == customColumns {
		return render.ParseColumns(given)
	}
	text, err := os.ReadFile(given)
	if err != nil {
		return nil, fmt.Errorf("reading the columns of -o %s: %w", customColumnsFile, err)
	}
	return render.ParseColumnsFile(string(text))
}

// writeColumns prints the user's own columns, a row for each item of the object's list. Of several
// clusters, a row begins with the name of its own.
func (o *Output) writeColumns(w io.Writer, object Document) error {
	columns, err := o.columns()
	if err != nil {
		return err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	items := itemsOf(content)
	if list, several := object.(*v1alpha1.List); several {
		if err := columns.LeadWith("CLUSTER", ".clusterRef.context"); err != nil {
			return err
		}
		items = nil
		for _, of := range list.Items {
			for _, item := range itemsOf(of) {
				if row, is := item.(map[string]any); is {
					row["clusterRef"] = of["clusterRef"]
				}
				items = append(items, item)
			}
		}
	}
	return columns.Write(w, items, render.Style{NoHeaders: o.noHeaders})
}

// itemsOf are the items of an object's list, or the object.
func itemsOf(content map[string]any) []any {
	kind, _ := content["kind"].(string)
	if key, ok := listed[kind]; ok {
		items, _ := content[key].([]any)
		return items
	}
	return []any{content}
}

// WithRows adds the format of rows.
func (o *Output) WithRows() *Output {
	o.rows = true
	return o
}

// HasRows reports whether rows are printed, which are of what was found or planned, and not of what
// was done.
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
