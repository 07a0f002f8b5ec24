// Package krew holds the template of the manifest with which krew installs the plugin, and checks it.
package krew

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"sigs.k8s.io/yaml"
)

const (
	templateFile = "gc.yaml"
	tag          = "v1.2.3"
	sha256       = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// manifest is krew's Plugin (sigs.k8s.io/krew/pkg/index, types.go).
type manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string     `json:"version"`
		Homepage         string     `json:"homepage"`
		ShortDescription string     `json:"shortDescription"`
		Description      string     `json:"description"`
		Caveats          string     `json:"caveats"`
		Platforms        []platform `json:"platforms"`
	} `json:"spec"`
}

type platform struct {
	URI      string `json:"uri"`
	Sha256   string `json:"sha256"`
	Bin      string `json:"bin"`
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
}

func (p platform) system() system {
	return system{p.Selector.MatchLabels["os"], p.Selector.MatchLabels["arch"]}
}

// TestManifest checks what krew's validator and the reviewers of its index check.
func TestManifest(t *testing.T) {
	m := render(t)
	spec := m.Spec
	if m.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || m.Kind != "Plugin" {
		t.Errorf("it is a %s of %s", m.Kind, m.APIVersion)
	}
	if want := strings.TrimSuffix(templateFile, ".yaml"); m.Metadata.Name != want {
		t.Errorf("it is called %q, but krew takes the name from the file: %q", m.Metadata.Name, want)
	}
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+$`).MatchString(spec.Version) {
		t.Errorf("version %q is not of the form vX.Y.Z", spec.Version)
	}
	if n := len(spec.ShortDescription); n == 0 || n > 50 || strings.Contains(spec.ShortDescription, "\n") {
		t.Errorf("the short description has %d characters, and may have 1 to 50 on a line", n)
	}
	for _, word := range []string{"kubectl", "kubernetes", "plugin"} {
		if strings.Contains(strings.ToLower(spec.ShortDescription), word) {
			t.Errorf("the short description says %q, which goes without saying", word)
		}
	}
	for what, text := range map[string]string{"description": spec.Description, "caveats": spec.Caveats} {
		if text == "" {
			t.Errorf("there is no %s", what)
		}
		for line := range strings.Lines(text) {
			if len(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("%s: more than 80 columns: %s", what, line)
			}
		}
		if strings.Contains(text, "kubectl gc") || strings.Contains(text, "$ ") {
			t.Errorf("%s: a usage example, which belongs into the help text", what)
		}
	}
}

// TestPlatforms checks that each system has its own entry, with the archive that the release makes for it.
func TestPlatforms(t *testing.T) {
	m, archives := render(t), releaseArchives(t, tag)
	seen := map[system]bool{}
	for _, p := range m.Spec.Platforms {
		s := p.system()
		if len(p.Selector.MatchLabels) != 2 || s.OS == "" || s.Arch == "" {
			t.Errorf("selector %v: want an os, an arch and nothing else", p.Selector.MatchLabels)
		}
		if seen[s] {
			t.Errorf("%v is there twice; selectors must not overlap", s)
		}
		seen[s] = true
		archive, released := archives[s]
		if !released {
			t.Errorf("%v is not released; see goos and goarch in .goreleaser.yaml", s)
			continue
		}
		if want := m.Spec.Homepage + "/releases/download/" + tag + "/" + archive; p.URI != want {
			t.Errorf("%v is downloaded from\n%s, but the release puts it at\n%s", s, p.URI, want)
		}
		if p.Sha256 != sha256 {
			t.Errorf("%v: sha256 %q is not the archive's", s, p.Sha256)
		}
		want := "kubectl-gc"
		if s.OS == "windows" {
			want += ".exe"
		}
		if p.Bin != want {
			t.Errorf("%v: bin is %q, want %q", s, p.Bin, want)
		}
	}
	for s := range archives {
		if !seen[s] {
			t.Errorf("%v is released, but krew cannot install it", s)
		}
	}
}

// TestArchiveFiles holds what krew and completion need to be in every archive.
func TestArchiveFiles(t *testing.T) {
	files := readRelease(t).archive(t).Files
	for _, want := range []string{"LICENSE", "plugins/kubectl_complete-gc"} {
		if !slices.Contains(files, want) {
			t.Errorf("the archives do not hold %s", want)
		}
		if _, err := os.Stat("../" + want); err != nil {
			t.Errorf("the archives cannot hold %s: %v", want, err)
		}
	}
}

// render makes the manifest of a release without asking for its archives. addURIAndSha and indent do what the release bot's
// functions of that name do: the one gives two lines, of which the other indents the second.
func render(t *testing.T) manifest {
	t.Helper()
	functions := template.FuncMap{
		"addURIAndSha": func(url, tag string) (string, error) {
			uri, err := expand(url, map[string]string{"TagName": tag, "Version": strings.TrimPrefix(tag, "v")})
			return "uri: " + uri + "\nsha256: " + sha256, err
		},
		"indent": func(spaces int, text string) string {
			return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", spaces))
		},
	}
	parsed, err := template.New(templateFile).Funcs(functions).ParseFiles(templateFile)
	if err != nil {
		t.Fatalf("parsing the template: %v", err)
	}
	var b bytes.Buffer
	if err := parsed.Execute(&b, map[string]string{"TagName": tag}); err != nil {
		t.Fatalf("rendering the template: %v", err)
	}
	var m manifest
	if err := yaml.UnmarshalStrict(b.Bytes(), &m); err != nil {
		t.Fatalf("reading the manifest: %v\n%s", err, &b)
	}
	return m
}

func expand(text string, values map[string]string) (string, error) {
	parsed, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = parsed.Execute(&b, values)
	return b.String(), err
}
