package env

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Target is one of several clusters.
type Target struct {
	// Name is that of the context, or of the file of a kubeconfig.
	Name string
	// Kubeconfig and Context are the values of the flags of those names; empty for what is current.
	Kubeconfig, Context string
	// Gap says why it cannot be asked, if that is known beforehand.
	Gap *v1alpha1.Gap
	// config is of a cluster that no kubeconfig has.
	config *rest.Config
}

// clusters are the flags that say which clusters a command asks.
type clusters struct {
	globs               []string
	from                string
	profiles, providers string
	parallel            int
}

func (c *clusters) addFlags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&c.globs, "contexts", nil,
		"Ask the clusters of all contexts that match these patterns, such as prod-*: for tree, why, check and explain --in-cluster")
	flags.StringVar(&c.from, "contexts-from", "",
		"Ask the clusters that this command prints: a context, or the file of a kubeconfig, on each line")
	flags.StringVar(&c.profiles, "clusterprofiles", "",
		"Ask the clusters of the ClusterProfiles (multicluster.x-k8s.io) in this namespace of the current cluster; * means all namespaces")
	flags.StringVar(&c.providers, "clusterprofile-provider-file", "",
		"With --clusterprofiles: file that says with which credential plugin to log in to the clusters of a provider")
	flags.IntVar(&c.parallel, "parallel", 16, "With --contexts, how many clusters to ask at a time")
}

// Parallel returns how many clusters are asked at a time.
func (e *Env) Parallel() int { return e.clusters.parallel }

// asksMany are the commands that ask several clusters, which only read.
var asksMany = []string{"tree", "why", "check", "explain"}

// ofOne are flags that are about one cluster, or about none. Whom to be is the same in all.
var ofOne = slices.DeleteFunc(slices.Concat([]string{"from", "against", "local", "test-pack", "fix"}, needClusterFlags,
	connecting[1:]), func(name string) bool { return strings.HasPrefix(name, "as") })

// Targets returns the clusters that --contexts, --contexts-from and --clusterprofiles name, in the
// order of their names; none without these flags. For a command that asks one cluster it returns none,
// and has it ask the one that they name.
func (e *Env) Targets(cmd *cobra.Command) ([]Target, error) {
	flags := cmd.Flags()
	several := slices.DeleteFunc([]string{"contexts", "contexts-from", "clusterprofiles"},
		func(name string) bool { return !flags.Changed(name) })
	switch {
	case e.only != nil:
		return nil, nil
	case flags.Changed("clusterprofiles") != flags.Changed("clusterprofile-provider-file"):
		return nil, Usage(cmd, "--clusterprofiles and --clusterprofile-provider-file need each other")
	case flags.Changed("clusterprofiles") && e.clusters.profiles == "": // as of a variable that is not set
		return nil, Usage(cmd, "--clusterprofiles needs a namespace, or * for all")
	case len(several) == 0:
		return nil, nil
	}
	if e.clusters.parallel < 1 {
		return nil, Usage(cmd, "--parallel must be at least 1, not %d", e.clusters.parallel)
	}
	for _, name := range ofOne {
		hub := name == "context" && several[0] == "clusterprofiles" // it has the profiles
		if flags.Changed(name) && !hub {
			return nil, Usage(cmd, "--%s and --%s cannot be used together", several[0], name)
		}
	}
	if files, err := flags.GetStringSlice("filename"); err == nil && slices.Contains(files, "-") {
		return nil, Usage(cmd, "--%s cannot be used with -f -: standard input cannot be read for each cluster", several[0])
	}
	targets, err := e.targets(cmd)
	if err != nil {
		return nil, err
	}
	inCluster := flags.Lookup("in-cluster")
	switch {
	case slices.Contains(asksMany, cmd.Name()) && (inCluster == nil || inCluster.Value.String() == "true"):
		return targets, nil
	case inCluster != nil:
		return nil, Usage(cmd, "--%s needs --in-cluster: without it no cluster is asked", several[0])
	case flags.Changed("clusterprofiles"): // no context, of which --protect-context could be
		return nil, answer.Refuse(fmt.Errorf("nothing was done: --clusterprofiles is for commands that only read: %s",
			strings.Join(asksMany, ", ")))
	case len(targets) > 1:
		return nil, answer.Refuse(fmt.Errorf("nothing was done: --contexts names %d clusters, and %s is for one at a time",
			len(targets), cmd.CommandPath()))
	}
	e.connectTo(targets[0])
	return nil, nil
}

// OneOf has the command ask one of several clusters, whatever --contexts says, for another Env that
// asks them all. What is known of finalizers and links is read once for all of them. It comes before
// AddFlags.
func (e *Env) OneOf(all *Env, t Target) {
	e.only, e.Called, e.Screen = &t, all.Called, all.Out
	e.known, e.own, e.links = all.known, all.own, all.links
}

// connectTo has the command ask a cluster.
func (e *Env) connectTo(t Target) {
	if t.config != nil {
		e.asProfile(t.config)
		return
	}
	if t.Kubeconfig != "" {
		*e.Config.KubeConfig = t.Kubeconfig
	}
	*e.Config.Context = t.Context
}

// targets finds the clusters that the flags name.
func (e *Env) targets(cmd *cobra.Command) ([]Target, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules() // that of e.Config would be kept, with its context
	rules.ExplicitPath = *e.Config.KubeConfig
	raw, err := rules.Load()
	if err != nil {
		return nil, err
	}
	found := map[string]Target{}
	for _, glob := range e.clusters.globs {
		none := true
		for name := range raw.Contexts {
			matches, err := matchesContext(glob, name)
			if err != nil {
				return nil, Usage(cmd, "--contexts: %q: %w", glob, err)
			}
			if matches {
				none, found[name] = false, Target{Name: name, Context: name}
			}
		}
		if none {
			return nil, answer.WithHint(fmt.Errorf("no context matches %q", glob),
				"the kubeconfig has "+phrase.FirstFew(slices.Sorted(maps.Keys(raw.Contexts)), phrase.MaxNamed))
		}
	}
	if cmd.Flags().Changed("contexts-from") {
		lines, err := printed(cmd.Context(), e.clusters.from)
		if err != nil {
			return nil, fmt.Errorf("--contexts-from: %w", err)
		}
		var named []Target
		for _, line := range lines {
			t, err := target(line, func(context string) bool { return raw.Contexts[context] != nil })
			if err != nil {
				return nil, fmt.Errorf("--contexts-from: %w", err)
			}
			named = append(named, t)
		}
		include(found, named)
	}
	if cmd.Flags().Changed("clusterprofiles") {
		profiles, err := e.fromProfiles(cmd.Context(), e.clusters.profiles, e.clusters.providers)
		if err != nil {
			return nil, fmt.Errorf("--clusterprofiles %s: %w", e.clusters.profiles, err)
		}
		for name, t := range profiles {
			if _, twice := found[name]; twice { // a context
				t.Name = "clusterprofile " + name
			}
			found[t.Name] = t
		}
	}
	if len(found) == 0 {
		return nil, errors.New("--contexts and --contexts-from name no cluster")
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Target) int { return strings.Compare(a.Name, b.Name) }), nil
}

// include adds contexts, and then files, of which one is called by its path if another cluster has
// its name.
func include(found map[string]Target, named []Target) {
	slices.SortStableFunc(named, func(a, b Target) int { return strings.Compare(a.Kubeconfig, b.Kubeconfig) })
	for _, t := range named {
		if other, twice := found[t.Name]; twice && other.Kubeconfig != t.Kubeconfig {
			t.Name = t.Kubeconfig
		}
		found[t.Name] = t
	}
}

// target is the cluster of a line: a context, or the file of a kubeconfig.
func target(line string, isContext func(string) bool) (Target, error) {
	if isContext(line) {
		return Target{Name: line, Context: line}, nil
	}
	switch info, err := os.Stat(line); {
	case errors.Is(err, fs.ErrNotExist):
		return Target{}, fmt.Errorf("%q is no context, and no file", line)
	case err != nil:
		return Target{}, err
	case info.IsDir():
		return Target{}, fmt.Errorf("%s is a directory: print the files in it", line)
	}
	name := filepath.Base(line)
	return Target{Name: strings.TrimSuffix(name, filepath.Ext(name)), Kubeconfig: line}, nil
}

// printed runs a command of the shell and returns the lines that it prints, without empty ones.
func printed(ctx context.Context, command string) ([]string, error) {
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c"}
	}
	var errOut bytes.Buffer
	run := exec.CommandContext(ctx, shell[0], append(shell[1:], command)...) //nolint:gosec // it is what was typed
	run.Stderr = &errOut
	out, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("running %q: %w: %s", command, err, strings.TrimSpace(errOut.String()))
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, nil
}
