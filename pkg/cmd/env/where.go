package env

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Cluster returns the context and the server that the flags and the kubeconfig name, as far as they
// do; both are empty without one.
func (e *Env) Cluster() (context, server string) {
	if e.source != nil {
		return "", e.source.name
	}
	if raw, err := e.Config.ToRawKubeConfigLoader().RawConfig(); err == nil {
		context = raw.CurrentContext
	}
	if e.Config.Context != nil && *e.Config.Context != "" {
		context = *e.Config.Context
	}
	if config, err := e.Config.ToRESTConfig(); err == nil {
		server = withoutUser(config.Host)
	}
	return context, server
}

var userinfo = regexp.MustCompile(`^(\w+://)?[^/?#]*@`)

// withoutUser is the address of a server without a user, which would be with a password.
func withoutUser(server string) string { return userinfo.ReplaceAllString(server, "$1") }

// About says in which namespaces the objects are that a command is about; none is of cluster-scoped
// ones. What -A says stays.
func (e *Env) About(namespaces []string) {
	if e.Scope != "" {
		return
	}
	slices.Sort(namespaces)
	switch namespaces = slices.Compact(namespaces); len(namespaces) {
	case 0:
		e.Scope = "cluster-scoped objects"
	case 1:
		e.Scope = "namespace " + namespaces[0]
	default:
		e.Scope = "namespaces " + phrase.FirstFew(namespaces, phrase.MaxNamed)
	}
}

// where says in a line which cluster and namespace a command is about.
func (e *Env) where() string {
	context, server := e.Cluster()
	scope := e.Scope
	if scope == "" {
		namespace, _ := e.Namespace() // without it nothing was planned
		scope = "namespace " + namespace
	}
	line := "server " + server + ", " + scope
	if e.source != nil {
		line = server + " as of " + e.source.asOf.UTC().Format(time.RFC3339) + ", " + scope
	}
	if context != "" {
		line = "context " + context + ", " + line
	}
	return render.Escape(line)
}

// Titled is the title of a list: which cluster it is about, and a line.
func (e *Env) Titled(line string) func(columns int) string {
	return func(columns int) string {
		var title strings.Builder
		_ = render.Paragraphs(&title, []string{e.where(), line}, render.Style{Width: columns}) // to memory
		return title.String()
	}
}

// protectVariable is the environment variable that has the patterns of --protect-context. The kuberc
// of kubectl cannot: for a command that is none of its own it warns at each of its own.
const protectVariable = "KUBECTL_GC_PROTECT_CONTEXT"

// dryValues are the values of --dry-run with which nothing is written, in any command.
var dryValues = []string{"client", "server", "true", "unchanged"}

// checkProtected checks the patterns, and refuses --yes in a protected context: it is typed out of
// habit, or meant for another cluster.
func (e *Env) checkProtected(cmd *cobra.Command) error {
	flags := cmd.Flags()
	if patterns := os.Getenv(protectVariable); patterns != "" && !flags.Changed("protect-context") {
		e.Protect = strings.Split(patterns, ",")
	}
	for i, glob := range e.Protect {
		glob = strings.TrimSpace(glob)
		e.Protect[i] = glob
		if _, err := path.Match(glob, ""); err != nil {
			return Usage(cmd, "--protect-context: %q: %w", glob, err)
		}
	}
	yes, dry := flags.Lookup("yes"), flags.Lookup("dry-run")
	if yes == nil || yes.Value.String() != "true" || dry != nil && slices.Contains(dryValues, dry.Value.String()) {
		return nil
	}
	context := e.protected()
	if context == "" {
		return nil
	}
	return answer.Refuse(answer.WithHint(fmt.Errorf("nothing was changed: the context %q is protected, and --yes is not enough in it",
		context), "without --yes you are asked for the name of the context; in a script, --protect-context= lifts the protection"))
}

// matchesContext reports whether a context matches a pattern, in which a star stands for all of a
// name, as of arn:…:cluster/prod.
func matchesContext(glob, context string) (bool, error) {
	flat := strings.NewReplacer("/", "|")
	return path.Match(flat.Replace(glob), flat.Replace(context))
}

// protected returns the context if one of the patterns of --protect-context matches it; empty
// otherwise.
func (e *Env) protected() string {
	context, _ := e.Cluster()
	if slices.ContainsFunc(e.Protect, func(glob string) bool {
		matches, _ := matchesContext(glob, context) // validated
		return matches
	}) {
		return context
	}
	return ""
}
