package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// What package cluster asks for; a test holds the two together.
const (
	rawPageSize = 100_000
	rawAccept   = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," +
		"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
	rawBuffer = 64 << 10
)

// roleRaw is the measure of kubectl gc: the same requests, and what they answer thrown away.
const roleRaw = "raw"

func readRaw(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(roleRaw, flag.ContinueOnError)
	concurrency := flags.Int("concurrency", cluster.DefaultConcurrency, "requests in flight at most")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config, err := genericclioptions.NewConfigFlags(true).ToRESTConfig()
	if err != nil {
		return err
	}
	r, err := newRawReader(config, *concurrency)
	if err != nil {
		return err
	}
	if err := r.all(ctx); err != nil {
		return err
	}
	fmt.Printf("%.0f MB in %d answers\n", float64(r.bytes.Load())/1e6, r.answers.Load())
	return nil
}

// rawReader reads the lists that package cluster would read, in the same order and as many at a
// time.
type rawReader struct {
	cluster *cluster.Client
	rest    rest.Interface
	slots   chan struct{}
	bytes   atomic.Int64
	answers atomic.Int64
}

func newRawReader(config *rest.Config, concurrency int) (*rawReader, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	cluster.ChooseCompression(config) // which discovery, by the client that is made of it, tells how far the server is
	client, err := cluster.New(config, concurrency)
	if err != nil {
		return nil, err
	}
	config.NegotiatedSerializer = serializer.NewCodecFactory(apiruntime.NewScheme()).WithoutConversion()
	restClient, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("configuring the client for %s: %w", config.Host, err)
	}
	return &rawReader{cluster: client, rest: restClient, slots: make(chan struct{}, concurrency)}, nil
}

func (r *rawReader) all(ctx context.Context) error {
	catalog, err := r.cluster.Discover(ctx)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cap(r.slots))
	for _, t := range catalog.Resources {
		if t.Deletable() {
			group.Go(func() error { return r.list(ctx, t) })
		}
	}
	return group.Wait()
}

func (r *rawReader) list(ctx context.Context, t cluster.Resource) error {
	path := "/apis/" + t.APIVersion() + "/" + t.Resource
	if t.Group == "" {
		path = "/api/" + t.Version + "/" + t.Resource
	}
	pages, ctx := errgroup.WithContext(ctx)
	pages.Go(func() error { return r.page(ctx, pages, path, "") })
	if err := pages.Wait(); err != nil {
		return fmt.Errorf("listing %s: %w", path, err)
	}
	return nil
}

// page reads one page and asks for the next as soon as the server has named it, which it does
// before the first object.
func (r *rawReader) page(ctx context.Context, pages *errgroup.Group, path, token string) error {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	req := r.rest.Get().AbsPath(path).SetHeader("Accept", rawAccept).Param("limit", strconv.Itoa(rawPageSize))
	if token != "" {
		req.Param("continue", token)
	}
	body, err := req.Stream(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	answer := &countingReader{r: body, n: &r.bytes}
	buffered := bufio.NewReaderSize(answer, rawBuffer)
	next, err := continueToken(buffered)
	if err != nil {
		return err
	}
	if next != "" {
		pages.Go(func() error { return r.page(ctx, pages, path, next) })
	}
	r.answers.Add(1)
	if _, err := buffered.WriteTo(io.Discard); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

type countingReader struct {
	r io.Reader
	n *atomic.Int64
}

// Read implements io.Reader.
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}
