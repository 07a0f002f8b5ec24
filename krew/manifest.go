package krew

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template"
)

// Names are those under which krew installs the plugin. The first is that of the template.
var Names = []string{"gc", "cascade"}

// Manifest fills in the template of the manifest for a release, under one of the Names, from the
// text of its checksums.txt. It knows the two functions of krew-release-bot, and puts the checksums
// there without downloading the archives.
func Manifest(text, name, tag, checksums string) ([]byte, error) {
	line := "\n  name: " + Names[0] + "\n"
	if !slices.Contains(Names, name) || strings.Count(text, line) != 1 {
		return nil, fmt.Errorf("the plugin is called %s, and not %q", strings.Join(Names, " or "), name)
	}
	text = strings.Replace(text, line, "\n  name: "+name+"\n", 1)
	text = strings.ReplaceAll(text, "kubectl_complete-"+Names[0], "kubectl_complete-"+name)
	sums := map[string]string{}
	for line := range strings.Lines(checksums) {
		if fields := strings.Fields(line); len(fields) == 2 {
			sums[fields[1]] = fields[0]
		}
	}
	functions := template.FuncMap{
		"addURIAndSha": func(url, tag string) (string, error) {
			uri, err := expand(url, map[string]string{"TagName": tag})
			if err != nil {
				return "", err
			}
			sum, ok := sums[path.Base(uri)]
			if !ok {
				return "", fmt.Errorf("the checksums have no %s", path.Base(uri))
			}
			return "uri: " + uri + "\nsha256: " + sum, nil
		},
		// The first of the two lines stands where the template says.
		"indent": func(spaces int, text string) string {
			return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", spaces))
		},
	}
	parsed, err := template.New("gc.yaml").Funcs(functions).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("parsing the template of the manifest: %w", err)
	}
	var b bytes.Buffer
	if err := parsed.Execute(&b, map[string]string{"TagName": tag}); err != nil {
		return nil, fmt.Errorf("filling in the template of the manifest: %w", err)
	}
	return b.Bytes(), nil
}
