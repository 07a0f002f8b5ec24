package cmd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// fail prints errors in kubectl's words and returns the exit code: 1; or 2 if nothing failed and
// something was found or refused, or the answer was no; or 130, as a shell has it, after a signal.
// What could not be done because of an interruption is told once, after what failed before.
func fail(ctx context.Context, e *env.Env, err error) int {
	var failed, refused, interrupted bool
	signalled := ctx.Err() != nil && !errors.Is(context.Cause(ctx), errUnread) || errors.Is(err, interrupt.ErrKey)
	for _, one := range answer.Flatten(err) {
		switch {
		case ctx.Err() != nil && errors.Is(one, context.Canceled), errors.Is(one, interrupt.ErrKey):
			interrupted = true
			continue
		case isUnread(one): // which whoever has closed the pipe knows
			failed = true
			continue
		case errors.Is(one, answer.ErrFound):
			refused = true
			continue
		case errors.Is(one, answer.ErrCancelled):
			fmt.Fprintln(e.Out, one)
			refused = true
			continue
		case answer.IsRefusal(one):
			refused = true
		default:
			failed = true
		}
		render.Message(e.ErrOut, "", phrase.EscapeLines(e.InDump(named(e, describe(one)))))
	}
	if interrupted {
		why := ""
		if cause := context.Cause(ctx); errors.Is(cause, errUnread) {
			why = ": standard output or error is closed"
		}
		fmt.Fprintln(e.ErrOut, "error: interrupted"+why)
	}
	if hint := answer.Hint(err); hint != "" {
		render.Message(e.ErrOut, "hint: ", phrase.EscapeLines(named(e, hint)))
	}
	if command := env.Mistyped(err); command != "" {
		fmt.Fprintf(e.ErrOut, "See '%s -h' for help and examples\n", command)
	}
	switch {
	case (failed || interrupted) && signalled:
		return 130
	case failed || interrupted:
		return 1
	case refused:
		return 2
	}
	return 0
}

// named names the program as it was called.
func named(e *env.Env, text string) string {
	return strings.ReplaceAll(text, env.DefaultName, e.Called)
}

// describe words an error as kubectl does (kubectl/pkg/cmd/util/helpers.go, checkErr and
// StandardErrorMessage), so that what is known from there is recognised here.
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
