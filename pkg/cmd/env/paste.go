package env

import (
	"regexp"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// shellWord finds the words of a command line, the blanks between them, and what ends a command.
var shellWord = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\|;&()])+|\s+|.`)

// Pasted has the commands of a diagnosis name the program, the cluster and the user that were typed:
// pasted into the same shell, they are for these.
func (e *Env) Pasted(stuck []v1alpha1.Stuck) {
	for i := range stuck {
		for j := range stuck[i].Causes {
			c := &stuck[i].Causes[j]
			e.pasteAll(c.Commands)
			for k := range c.Steps {
				c.Steps[k].Command = e.pasted(c.Steps[k].Command)
			}
		}
	}
}

// PastedFindings does the same with the commands of findings.
func (e *Env) PastedFindings(all []v1alpha1.CheckFinding) {
	for _, f := range all {
		e.pasteAll(f.Commands)
	}
}

func (e *Env) pasteAll(commands []string) {
	for i, command := range commands {
		commands[i] = e.pasted(command)
	}
}

// pasted is a command as it can be pasted.
func (e *Env) pasted(command string) string {
	if arguments, own := strings.CutPrefix(command, DefaultName+" "); own {
		command = e.Called + " " + arguments
	}
	connection, user := e.typed()
	return withFlags(command, connection, user)
}

// withFlags is a command line with flags at the end of each kubectl in it: those that say which
// cluster is meant, and who asks unless the command says that itself.
func withFlags(command, connection, user string) string {
	var all, blank strings.Builder
	called, named := false, false
	end := func() {
		if called {
			for _, flags := range []string{connection, user} {
				if flags != "" && !(named && flags == user) {
					all.WriteString(" " + flags)
				}
			}
		}
		called, named = false, false
	}
	for _, word := range shellWord.FindAllString(command, -1) {
		switch {
		case strings.TrimSpace(word) == "":
			blank.WriteString(word)
			continue
		case len(word) == 1 && strings.ContainsAny(word, "|;&()"), word == "--", word == ">", word == "<":
			end()
		case word == "kubectl":
			called = true
		case strings.HasPrefix(word, "--as"):
			named = true
		}
		all.WriteString(blank.String() + word)
		blank.Reset()
	}
	end()
	return all.String() + blank.String()
}

// typed are the flags that say which cluster is meant, and those that say who asks, as they were
// typed. A token or a password is not among them.
func (e *Env) typed() (connection, user string) {
	if e.source != nil {
		return "", "" // the commands are for the cluster, of which a dump does not say how it is reached
	}
	var words []string
	add := func(name string, value *string) {
		if value != nil && *value != "" {
			words = append(words, "--"+name, *value)
		}
	}
	c := e.Config
	add("kubeconfig", c.KubeConfig)
	add("context", c.Context)
	add("cluster", c.ClusterName)
	add("user", c.AuthInfoName)
	if c.APIServer != nil {
		add("server", new(withoutUser(*c.APIServer)))
	}
	connection, words = phrase.Command(words...), nil
	add("as", c.Impersonate)
	add("as-uid", c.ImpersonateUID)
	if c.ImpersonateGroup != nil {
		for _, group := range *c.ImpersonateGroup {
			words = append(words, "--as-group", group)
		}
	}
	return connection, phrase.Command(words...)
}
