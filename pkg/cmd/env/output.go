package env

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
)

// jsonLine is the format of one object on one line, for logs.
const jsonLine = "jsonl"

// Output are -o and what goes with it.
type Output struct {
	// own are the formats that the command prints itself, besides the table that is printed without -o.
	own       []string
	print     *genericclioptions.PrintFlags
	noHeaders bool
}

// NewOutput returns -o with the formats that the command prints itself.
func NewOutput(own ...string) *Output {
	return &Output{own: own, print: genericclioptions.NewPrintFlags("")}
}

func (o *Output) formats() []string {
	// The name printer of cli-runtime wants one object with metadata; where it makes sense, the
	// command prints names itself.
	generic := slices.DeleteFunc(o.print.AllowedFormats(), func(f string) bool { return f == "name" })
	return append(slices.Concat(o.own, []string{jsonLine, customColumns, customColumnsFile}), generic...)
}

// Add adds the flags to a command.
func (o *Output) Add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(o.print.OutputFormat, "output", "o", "",
		"Output format. One of: ("+strings.Join(o.formats(), ", ")+")")
	flags.BoolVar(&o.noHeaders, "no-headers", false, "Print tables, and custom columns, without headers")
	o.print.TemplatePrinterFlags.AddFlags(cmd)
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(o.formats(), cobra.ShellCompDirectiveNoFileComp))
}

// Format returns the format if it is one of the command's own, empty for the table.
func (o *Output) Format() string { return *o.print.OutputFormat }

// Wide says whether the table is to be wide.
func (o *Output) Wide() bool { return o.Format() == "wide" }

// IsOwn says whether the command prints the format itself.
func (o *Output) IsOwn() bool { return o.Format() == "" || slices.Contains(o.own, o.Format()) }

// Validate finds a format that does not exist, or a template that does not parse, before anything
// is asked of the server.
func (o *Output) Validate(cmd *cobra.Command) error {
	var err error
	switch {
	case o.IsOwn(), o.Format() == jsonLine:
	case o.hasColumns():
		_, err = o.columns()
	default:
		_, err = o.printer()
	}
	if err != nil {
		return UsageError(cmd, err)
	}
	return nil
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

// Write prints an object in one of the formats of cli-runtime, or in columns of the user's own.
func (o *Output) Write(w io.Writer, object runtime.Object) error {
	switch {
	case o.hasColumns():
		return o.writeColumns(w, object)
	case o.Format() == jsonLine:
		return json.NewEncoder(w).Encode(object)
	}
	p, err := o.printer()
	if err != nil {
		return err
	}
	return p.PrintObj(object, w)
}
