package beside

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// installFunction makes the objects by which Crossplane 2 finds the function templates at an
// address. They are paused, so that its package manager does not look for their image.
func installFunction(t testing.TB, c *testcluster.Cluster, address string) {
	t.Helper()
	c.Apply(t, `
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: templates, annotations: {crossplane.io/paused: "true"}}
spec: {package: example.org/templates:v1}
---
apiVersion: pkg.crossplane.io/v1
kind: FunctionRevision
metadata:
  name: templates-1
  annotations: {crossplane.io/paused: "true"}
  labels: {pkg.crossplane.io/package: templates}
spec: {desiredState: Active, image: "example.org/templates:v1", revision: 1}
`)
	c.Kubectl(t, "patch", "functionrevisions.pkg.crossplane.io", "templates-1", "--subresource=status", "--type=merge", "-p",
		fmt.Sprintf(`{"status": {"endpoint": %q, "capabilities": ["composition"]}}`, address))
}

// serveFunction serves a composition function and gives its address. The function composes what its
// input has in resources, each by its name, with the name of the composite where that says NAME, and
// says that it is ready. A gRPC call is a request of HTTP/2: a message with its length before it, and
// the status as a trailer.
func serveFunction(t testing.TB, certificate program.Certificate) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(certificate.Dir, "tls.crt"), filepath.Join(certificate.Dir, "tls.key"))
	if err != nil {
		t.Fatalf("reading a certificate: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listening: %v", err)
	}
	server := &http.Server{
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13},
		Handler:   http.HandlerFunc(call),
	}
	go func() { _ = server.ServeTLS(listener, "", "") }()
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String()
}

// call answers one call of the function.
func call(w http.ResponseWriter, r *http.Request) {
	message, err := io.ReadAll(r.Body)
	var answer []byte
	if err == nil && len(message) >= prefix {
		answer, err = compose(message[prefix:])
	}
	w.Header().Set("Content-Type", "application/grpc")
	if err == nil {
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(answer))), answer...))
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
		return
	}
	w.Header().Set("Grpc-Status", "13")
	w.Header().Set("Grpc-Message", err.Error())
}

// prefix is the length of what is before a message: whether it is compressed, and its length.
const prefix = 5

// The numbers of fields of the messages of proto/fn/v1/run_function.proto.
const (
	requestObserved, requestInput   = 2, 4
	responseDesired                 = 2
	stateComposite, stateResources  = 1, 2
	resourceResource, resourceReady = 1, 3
	mapKey, mapValue                = 1, 2
	readyTrue                       = 1
)

// compose makes a RunFunctionResponse of a RunFunctionRequest.
func compose(request []byte) ([]byte, error) {
	var composite, input structpb.Struct
	if err := proto.Unmarshal(field(request, requestObserved, stateComposite, resourceResource), &composite); err != nil {
		return nil, err
	}
	name := composite.GetFields()["metadata"].GetStructValue().GetFields()["name"].GetStringValue()
	if err := proto.Unmarshal(field(request, requestInput), &input); err != nil {
		return nil, err
	}
	text, err := input.GetFields()["resources"].MarshalJSON()
	if err != nil {
		return nil, err
	}
	var resources structpb.Struct
	if err := resources.UnmarshalJSON([]byte(strings.ReplaceAll(string(text), "NAME", name))); err != nil {
		return nil, err
	}
	var state []byte
	for key, resource := range resources.GetFields() {
		content, err := proto.Marshal(resource.GetStructValue())
		if err != nil {
			return nil, err
		}
		ready := protowire.AppendVarint(protowire.AppendTag(nil, resourceReady, protowire.VarintType), readyTrue)
		entry := append(bytesField(mapKey, []byte(key)),
			bytesField(mapValue, append(bytesField(resourceResource, content), ready...))...)
		state = append(state, bytesField(stateResources, entry)...)
	}
	return bytesField(responseDesired, state), nil
}

func bytesField(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

// field gives what stands in a field of a message, of a message in that, and so on; nothing if it is
// not there.
func field(message []byte, path ...protowire.Number) []byte {
	for _, want := range path {
		var found []byte
		for len(message) > 0 {
			number, kind, n := protowire.ConsumeTag(message)
			if n < 0 {
				return nil
			}
			length := protowire.ConsumeFieldValue(number, kind, message[n:])
			if length < 0 {
				return nil
			}
			if number == want && kind == protowire.BytesType {
				found, _ = protowire.ConsumeBytes(message[n:])
			}
			message = message[n+length:]
		}
		message = found
	}
	return message
}
