package take

import (
	"io"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/synthetic"
)

// BenchmarkWrite100k saves a generated cluster. The time of the server, in the same process, is in it.
func BenchmarkWrite100k(b *testing.B) {
	server := synthetic.Start(synthetic.Shape{Objects: 100_000, Types: 500})
	defer server.Close()
	for b.Loop() {
		client, err := cluster.New(server.Config(), 0)
		if err != nil {
			b.Fatal(err)
		}
		catalog, err := client.Discover(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Write(b.Context(), Request{Client: client, Catalog: catalog}, io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
