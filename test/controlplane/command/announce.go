package command

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

var plain = regexp.MustCompile(`^[-+=@%_.,:/A-Za-z0-9]+$`)

// announce prints the one line that says that a control plane is ready, for a shell to evaluate.
func announce(w io.Writer, kubeconfig string) {
	if !plain.MatchString(kubeconfig) {
		kubeconfig = "'" + strings.ReplaceAll(kubeconfig, "'", `'\''`) + "'"
	}
	fmt.Fprintf(w, "export KUBECONFIG=%s\n", kubeconfig)
}
