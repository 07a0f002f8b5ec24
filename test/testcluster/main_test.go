package testcluster

import (
	"fmt"
	"os"
	"testing"
)

// abandonVariable makes the test binary start a control plane in the directory that it names, say
// so, and wait to be killed.
const abandonVariable = "TESTCLUSTER_ABANDON"

func TestMain(m *testing.M) {
	dir := os.Getenv(abandonVariable)
	if dir == "" {
		Main(m)
	}
	c, err := start(dir, []Option{NoControllers()})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(c.Config().Host)
	select {}
}
