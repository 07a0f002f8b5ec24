package krew

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"
)

// Release is what is read of .goreleaser.yaml: one build, and one archive for each system.
type Release struct {
	Version     int       `json:"version"`
	ProjectName string    `json:"project_name"`
	Builds      []Build   `json:"builds"`
	Archives    []Archive `json:"archives"`
}

// Build says how the executable is compiled.
type Build struct {
	Main    string   `json:"main"`
	Binary  string   `json:"binary"`
	Env     []string `json:"env"`
	Flags   []string `json:"flags"`
	Ldflags []string `json:"ldflags"`
	Goos    []string `json:"goos"`
	Goarch  []string `json:"goarch"`
}

// Archive says what an archive is called, and what is in it.
type Archive struct {
	NameTemplate    string   `json:"name_template"`
	Formats         []string `json:"formats"`
	FormatOverrides []struct {
		Goos    string   `json:"goos"`
		Formats []string `json:"formats"`
	} `json:"format_overrides"`
	BuildsInfo Info   `json:"builds_info"`
	Files      []File `json:"files"`
}

// File are files of an archive: those that match a pattern.
type File struct {
	Src  string `json:"src"`
	Info Info   `json:"info"`
}

// Info is what an archive says of a file besides its name.
type Info struct {
	Owner string `json:"owner"`
	Group string `json:"group"`
	Mode  int64  `json:"mode"`
	MTime string `json:"mtime"`
}

// System is one that the plugin is released for, in Go's words.
type System struct{ OS, Arch string }

// Systems are all that the plugin is released for.
func (r *Release) Systems() []System {
	var all []System
	for _, goos := range r.Build().Goos {
		for _, arch := range r.Build().Goarch {
			all = append(all, System{goos, arch})
		}
	}
	return all
}

// Build is the only build.
func (r *Release) Build() Build { return r.Builds[0] }

// Archive is the only archive.
func (r *Release) Archive() Archive { return r.Archives[0] }

// ReadRelease reads .goreleaser.yaml in the top folder of a checkout.
func ReadRelease(checkout string) (*Release, error) {
	text, err := os.ReadFile(filepath.Join(checkout, ".goreleaser.yaml"))
	if err != nil {
		return nil, err
	}
	var r Release
	if err := yaml.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("reading .goreleaser.yaml: %w", err)
	}
	if r.Version != 2 || len(r.Builds) != 1 || len(r.Archives) != 1 {
		return nil, fmt.Errorf(
			"reading .goreleaser.yaml: want one build and one archive in goreleaser's second syntax, not %d and %d in version %d", len(r.Builds), len(r.Archives), r.Version)
	}
	return &r, nil
}

// archiveName is what the archive of a system is called, and its format.
func (r *Release) archiveName(s System, values map[string]string) (name, format string, err error) {
	a := r.Archive()
	formats := a.Formats
	for _, o := range a.FormatOverrides {
		if o.Goos == s.OS {
			formats = o.Formats
		}
	}
	if len(formats) != 1 {
		return "", "", fmt.Errorf("%s has %d archive formats; krew downloads one", s.OS, len(formats))
	}
	name, err = expand(a.NameTemplate, r.of(s, values))
	return name + "." + formats[0], formats[0], err
}

// of adds what goreleaser's templates know of a system.
func (r *Release) of(s System, values map[string]string) map[string]string {
	all := map[string]string{"ProjectName": r.ProjectName, "Binary": r.Build().Binary, "Os": s.OS, "Arch": s.Arch}
	for key, value := range values {
		all[key] = value
	}
	return all
}

// expand fills in a template of goreleaser.
func expand(text string, values map[string]string) (string, error) {
	parsed, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = parsed.Execute(&b, values)
	return b.String(), err
}
