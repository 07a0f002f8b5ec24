package env

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
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

// Takes says whether the format is one of those that are offered.
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

// Wide says whether the table is to be wide.
func (o *Output) Wide() bool { return o.Format() == "wide" }

// IsOwn says whether the command prints the format itself.
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

// MarshalJSON implements json.Marshaler.
func (p printable) MarshalJSON() ([]byte, error) { return json.Marshal(p.Document) }
