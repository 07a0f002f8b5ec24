package krew

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	templateFile = "gc.yaml"
	tag          = "v1.2.3"
	sha256Sum    = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
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

func (p platform) system() System {
	return System{p.Selector.MatchLabels["os"], p.Selector.MatchLabels["arch"]}
}

// TestManifest checks what krew's validator and the reviewers of its index check.
func TestManifest(t *testing.T) {
	for _, name := range Names {
		checkManifest(t, name, render(t, name))
	}
}

func checkManifest(t *testing.T, name string, m manifest) {
	t.Helper()
	spec := m.Spec
	if m.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || m.Kind != "Plugin" {
		t.Errorf("it is a %s of %s", m.Kind, m.APIVersion)
	}
	if m.Metadata.Name != name {
		t.Errorf("it is called %q, but krew takes the name from the file: %q", m.Metadata.Name, name)
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

// TestPlatforms checks that each system has its own entry, with the archive that the release makes
// for it.
func TestPlatforms(t *testing.T) {
	m, archives := render(t, Names[0]), releaseArchives(t, tag)
	seen := map[System]bool{}
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
		if p.Sha256 != sha256Sum {
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

// render makes a manifest of a release whose archives have all the same checksum.
func render(t *testing.T, name string) manifest {
	t.Helper()
	text, err := os.ReadFile(templateFile)
	if err != nil {
		t.Fatal(err)
	}
	var checksums strings.Builder
	for _, archive := range releaseArchives(t, tag) {
		checksums.WriteString(sha256Sum + "  " + archive + "\n")
	}
	filled, err := Manifest(string(text), name, tag, checksums.String())
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := yaml.UnmarshalStrict(filled, &m); err != nil {
		t.Fatalf("reading the manifest: %v\n%s", err, filled)
	}
	return m
}

// TestAManifestWithoutAChecksumIsNotMade: krew would refuse every installation.
func TestAManifestWithoutAChecksumIsNotMade(t *testing.T) {
	text, err := os.ReadFile(templateFile)
	if err != nil {
		t.Fatal(err)
	}
	if filled, err := Manifest(string(text), Names[0], tag, sha256Sum+"  kubectl-gc_v1.2.3_linux_amd64.tar.gz\n"); err == nil ||
		!strings.Contains(err.Error(), "linux_arm64") {
		t.Errorf("%v\n%s", err, filled)
	}
	if filled, err := Manifest(string(text), "other", tag, ""); err == nil {
		t.Errorf("under another name:\n%s", filled)
	}
}
