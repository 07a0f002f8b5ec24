package env

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

const widgetPack = `title: Widgets
components: {Widget operator: {deployments: ['*/widget-operator']}}
finalizers:
- id: widget-bucket
  exact: widgets.example.com/bucket
  kinds: [example.com/Widget]
  component: Widget operator
  does: deletes the bucket
  ifRemoved: the bucket leaks
  risk: leaks-external
  polarity: cleanup
  verified: source
  source: https://example.com/
`

func packIn(t *testing.T, dir, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPacksOfTheUserAndOfTheFlag: those of the configuration directory are known, and of the same
// entry in both the flag's counts.
func TestPacksOfTheUserAndOfTheFlag(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("HOME", config)
	own, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	leaks := func(packs ...string) string {
		t.Helper()
		e := New(genericiooptions.NewTestIOStreamsDiscard(), nil)
		e.Packs = packs
		known, err := e.Known()
		if err != nil {
			t.Fatal(err)
		}
		k, _ := known.Lookup("widgets.example.com/bucket", "example.com", "Widget")
		if k.Fallback {
			return "" // by its form alone
		}
		return k.IfRemoved
	}
	if got := leaks(); got != "" {
		t.Errorf("without a pack: %q", got)
	}
	dir := filepath.Join(own, "kubectl-gc", "packs")
	packIn(t, dir, "README.md", "no pack")
	if got := leaks(); got != "" {
		t.Errorf("with an empty folder: %q", got)
	}
	packIn(t, dir, "w.yaml", widgetPack)
	if got := leaks(); got != "the bucket leaks" {
		t.Errorf("with the user's: %q", got)
	}
	other := packIn(t, t.TempDir(), "o.yml", strings.ReplaceAll(widgetPack, "the bucket leaks", "nothing leaks"))
	if got := leaks(other); got != "nothing leaks" {
		t.Errorf("with the flag's: %q", got)
	}
}

// TestLinksOfTheUser: a link of --packs takes the place of one with its id that comes with the
// plugin, and adds to those.
func TestLinksOfTheUser(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("HOME", config)
	named := func(packs ...string) map[string]string {
		t.Helper()
		e := New(genericiooptions.NewTestIOStreamsDiscard(), nil)
		e.Packs = packs
		links, err := e.Links()
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]string{}
		for _, d := range links {
			names[d.ID] = d.Name
		}
		return names
	}
	without := named()
	if without["crossplane-claim-composite"] != "composite" {
		t.Errorf("without a pack: %v", without)
	}
	const link = `
- id: crossplane-claim-composite
  name: mine
  from: {category: claim}
  ends: [{form: reference, field: spec.resourceRef}]
  deletion: {of: neither}
  verified: source
  source: https://example.com/`
	with := named(packIn(t, t.TempDir(), "links.yaml",
		"title: Links\nlinks:"+link+strings.ReplaceAll(link, "crossplane-claim-composite", "another")))
	if with["crossplane-claim-composite"] != "mine" || with["another"] != "mine" || len(with) != len(without)+1 {
		t.Errorf("with a pack: %v", with)
	}
}

// TestPacksThatAreBroken: the error names the folder, the file and what is wrong, and is there
// before a server is asked.
func TestPacksThatAreBroken(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	broken := packIn(t, t.TempDir(), "broken.yaml", strings.ReplaceAll(widgetPack, "leaks-external", "much"))
	empty := t.TempDir()
	for dir, want := range map[string]string{
		broken: "reading packs in " + broken +
			": broken.yaml:4: entry 1 (\"widget-bucket\"): \"risk\" is \"much\"",
		empty:                                "reading packs in " + empty + ": no pack found",
		filepath.Join(broken, "absent"):      "no such file",
		filepath.Join(broken, "broken.yaml"): "is no directory",
	} {
		e := New(genericiooptions.NewTestIOStreamsDiscard(), nil)
		e.Packs = []string{dir}
		if err := e.CheckPacks(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", dir, err, want)
		}
	}
}
