package cmd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// hintError is an error with a line that says what to do next.
type hintError struct {
	error
	hint string
}

func (e hintError) Unwrap() error { return e.error }

// errFinding is an answer that is printed already, and that exit code 2 tells of.
var errFinding = errors.New("something was found")

// withHint adds a hint to an error, unless the hint is empty.
func withHint(err error, hint string) error {
	if err == nil || hint == "" {
		return err
	}
	return hintError{err, hint}
}

// usageError is an error in what was typed, before anything was asked of a server.
type usageError struct {
	error
	command string
}

// fail prints errors in kubectl's words and returns the exit code: 1; or 2 if nothing failed and something was found or refused; or 0 if all that there is to
// tell is that the answer was no. What could not be done because of an interruption is told once, after what failed before.
func fail(ctx context.Context, streams genericiooptions.IOStreams, err error) int {
	var failed, refused, interrupted bool
	for _, e := range flatten(err) {
		var r refusal
		switch {
		case ctx.Err() != nil && errors.Is(e, context.Canceled):
			interrupted = true
			continue
		case errors.Is(e, errFinding):
			refused = true
			continue
		case errors.Is(e, errCancelled):
			fmt.Fprintln(streams.Out, e)
			continue
		case errors.As(e, &r):
			refused = true
		default:
			failed = true
		}
		fmt.Fprintln(streams.ErrOut, render.EscapeLines(describe(e)))
	}
	if interrupted {
		fmt.Fprintln(streams.ErrOut, "error: interrupted")
	}
	var hint hintError
	if errors.As(err, &hint) {
		fmt.Fprintln(streams.ErrOut, "hint: "+render.EscapeLines(hint.hint))
	}
	var usage usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(streams.ErrOut, "See '%s -h' for help and examples\n", usage.command)
	}
	switch {
	case failed || interrupted:
		return 1
	case refused:
		return 2
	}
	return 0
}

func flatten(err error) []error {
	var agg utilerrors.Aggregate
	if errors.As(err, &agg) {
		return utilerrors.Flatten(agg).Errors()
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, flatten(e)...)
	}
	return all
}

// describe words an error as kubectl does (kubectl/pkg/cmd/util/helpers.go, checkErr and StandardErrorMessage), so that
// what is known from there is recognised here.
func describe(err error) string {
	var (
		status  apierrors.APIStatus
		noMatch *meta.NoResourceMatchError
		urlErr  *url.Error
	)
	switch {
	case clientcmd.IsConfigurationInvalid(err):
		return "Error in configuration: " + err.Error()
	case errors.As(err, &noMatch):
		return "error: " + noSuchType(noMatch)
	case errors.As(err, &status):
		s := status.Status()
		switch {
		case s.Reason == metav1.StatusReasonUnauthorized:
			return fmt.Sprintf("error: You must be logged in to the server (%s)", s.Message)
		case s.Reason != "":
			return fmt.Sprintf("Error from server (%s): %s", s.Reason, err)
		}
		return "Error from server: " + err.Error()
	case errors.As(err, &urlErr):
		if strings.Contains(urlErr.Err.Error(), "connection refused") {
			host := urlErr.URL
			if u, err := url.Parse(urlErr.URL); err == nil {
				host = u.Host
			}
			return fmt.Sprintf("The connection to the server %s was refused - did you specify the right host or port?", host)
		}
		return fmt.Sprintf("Unable to connect to the server: %v", urlErr.Err)
	}
	return "error: " + strings.TrimPrefix(err.Error(), "error: ")
}

func noSuchType(err *meta.NoResourceMatchError) string {
	r := err.PartialResource
	message := fmt.Sprintf("the server doesn't have a resource type %q", r.Resource)
	switch {
	case r.Group != "" && r.Version != "":
		message += fmt.Sprintf(" in group %q and version %q", r.Group, r.Version)
	case r.Group != "":
		message += fmt.Sprintf(" in group %q", r.Group)
	case r.Version != "":
		message += fmt.Sprintf(" in version %q", r.Version)
	}
	return message
}
