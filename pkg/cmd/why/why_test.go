package why

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/flags"
)

func TestFlagsBecomeOptions(t *testing.T) {
	t.Parallel()
	o, err := flags.Parse(New, "namespace/shop", "--older-than=1h", "--probe", "-o", "prometheus", "--exit-zero")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.Args, []string{"namespace/shop"}) || o.OlderThan != time.Hour || !o.Probe || !o.ExitZero ||
		o.Output.Format() != "prometheus" {
		t.Errorf("options %+v", o)
	}
	if o, err := flags.Parse(New); err != nil || o.OlderThan != time.Minute || o.Probe || o.ExitZero {
		t.Errorf("without flags: %+v, %v", o, err)
	}
}

func TestWhatCannotBeExaminedIsRefusedBeforeAServerIsAsked(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--older-than=-1s":          "--older-than must not be negative",
		"--packs /nonexistent":      "no such file",
		"pod/web -l app=web":        "name cannot be provided when a selector is specified",
		"-o jsonpath={.stuck[}":     "unterminated",
		"-i":                        "--interactive needs a terminal",
		"-i -o json":                "--interactive does not go with -o json",
		"pod/web --filename a.yaml": "you may not specify resource arguments as well",
	} {
		if o, err := flags.Parse(New, strings.Fields(args)...); o != nil || err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: ran %t, error %v; want %q", args, o != nil, err, want)
		}
	}
}
