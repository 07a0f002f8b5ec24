// This program is the application controller of Argo CD, as its own main package starts it, with
// what it needs beside it: a Redis in memory, and a repo server that has its manifests from the
// directory in ARGOCD_MANIFESTS, in which the path of an Application's source is a file.
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"

	"github.com/alicebob/miniredis/v2"
	"google.golang.org/grpc"

	"github.com/argoproj/argo-cd/gitops-engine/v3/pkg/utils/kube"
	"github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/reposerver/apiclient"
	"github.com/argoproj/argo-cd/v3/util/argo"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// run runs all three until the controller ends.
func run() error {
	redis := miniredis.NewMiniRedis()
	if err := redis.Start(); err != nil {
		return fmt.Errorf("starting Redis: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("starting the repo server: %w", err)
	}
	server := grpc.NewServer()
	apiclient.RegisterRepoServerServiceServer(server, &manifests{dir: os.Getenv("ARGOCD_MANIFESTS")})
	go func() { log.Fatal(server.Serve(listener)) }()
	controller := commands.NewCommand()
	controller.SetArgs(append(os.Args[1:], "--redis="+redis.Addr(), "--repo-server="+listener.Addr().String(),
		"--repo-server-plaintext"))
	return controller.Execute()
}

// manifests is a repo server that reads the files of a directory.
type manifests struct {
	apiclient.UnimplementedRepoServerServiceServer

	dir string
}

// read returns a file, and the revision of it, which is another for another text: Argo CD syncs each
// once.
func (m *manifests) read(path string) (text []byte, revision string, err error) {
	if text, err = os.ReadFile(filepath.Join(m.dir, filepath.Base(path))); err != nil {
		return nil, "", fmt.Errorf("reading manifests: %w", err)
	}
	sum := sha256.Sum256(text)
	return text, fmt.Sprintf("%x", sum[:20]), nil
}

// GenerateManifest returns the objects of a file, marked as those of the Application.
func (m *manifests) GenerateManifest(
	_ context.Context, request *apiclient.ManifestRequest,
) (*apiclient.ManifestResponse, error) {
	text, revision, err := m.read(request.ApplicationSource.Path)
	if err != nil {
		return nil, err
	}
	objects, err := kube.SplitYAML(text)
	if err != nil {
		return nil, fmt.Errorf("reading manifests: %w", err)
	}
	response := &apiclient.ManifestResponse{Revision: revision, Namespace: request.Namespace, SourceType: "Directory"}
	for _, object := range objects {
		if err := argo.NewResourceTracking().SetAppInstance(object, request.AppLabelKey, request.AppName,
			request.Namespace, v1alpha1.TrackingMethod(request.TrackingMethod), request.InstallationID); err != nil {
			return nil, fmt.Errorf("marking %s: %w", object.GetName(), err)
		}
		manifest, err := object.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", object.GetName(), err)
		}
		response.Manifests = append(response.Manifests, string(manifest))
	}
	return response, nil
}

// ResolveRevision returns the revision of the file of an Application.
func (m *manifests) ResolveRevision(
	_ context.Context, request *apiclient.ResolveRevisionRequest,
) (*apiclient.ResolveRevisionResponse, error) {
	_, revision, err := m.read(request.App.Spec.GetSource().Path)
	if err != nil {
		return nil, err
	}
	return &apiclient.ResolveRevisionResponse{Revision: revision, AmbiguousRevision: request.AmbiguousRevision}, nil
}
