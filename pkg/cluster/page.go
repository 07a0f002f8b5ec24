package cluster

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

const (
	// readBuffer is what one page in flight holds, and room enough for all but odd objects.
	readBuffer = 64 << 10
	// acceptList asks for metadata, in protobuf if the server speaks it.
	acceptList = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," +
		"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
)

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, readBuffer) }}

// page is one request for a part of a list.
type page struct {
	path          []string
	continueToken string
	// keep leaves no object out; restrict has the server leave out those that do not match.
	keep     extras
	restrict Selection
	// view is for a type that cannot be watched: nothing says that its lists have a
	// resourceVersion.
	view bool
	// save is where the page is kept; its zero value is nowhere.
	save saved
}

// extras are what is kept of an object besides what the graph always keeps.
type extras struct {
	// selector marks the objects that match it; nil keeps labels from being looked at.
	selector labels.Selector
	// annotations are the keys of those that are kept.
	annotations []string
}

// read sends the request and hands over what it answers: onMeta once, before the objects where the
// format allows it, and each object, valid during the call.
func (c *Client) read(ctx context.Context, p page, onMeta func(listMeta), object func(*graph.Object)) error {
	body, err := c.open(ctx, p)
	if err != nil {
		return err
	}
	defer body.Close()
	r := readers.Get().(*bufio.Reader)
	r.Reset(body)
	defer func() {
		r.Reset(nil)
		readers.Put(r)
	}()
	var meta listMeta
	save, saved := p.save.page()
	err = decodePage(r, p.keep, save, func(m listMeta) {
		meta = m
		onMeta(m)
	}, object)
	if err == nil && !p.view {
		err = meta.versioned()
	}
	if err == nil {
		saved()
	}
	return err
}

// readAll reads a list to its end, from the page on, and returns its resourceVersion.
func (c *Client) readAll(ctx context.Context, p page, object func(*graph.Object)) (string, error) {
	for {
		var meta listMeta
		err := c.read(ctx, p, func(m listMeta) { meta = m }, object)
		if err != nil || meta.continueToken == "" {
			return meta.resourceVersion, err
		}
		p.continueToken = meta.continueToken
	}
}

// decodePage reads a list in either format. Save, if not nil, takes what each object is decoded from.
func decodePage(r *bufio.Reader, keep extras, save func([]byte), onMeta func(listMeta),
	object func(*graph.Object)) error {
	head, err := r.Peek(len(protobufMagic))
	if err != nil {
		return truncated(err)
	}
	if !bytes.Equal(head, protobufMagic) {
		return decodeJSONPage(r, keep, save, onMeta, object)
	}
	d := metadataDecoder{keep: keep}
	w := wireReader{r: r}
	return w.list(onMeta, func(item []byte) error {
		o, err := d.decode(item)
		if err == nil {
			if save != nil {
				save(item)
			}
			object(o)
		}
		return err
	})
}

func decodeJSONPage(r *bufio.Reader, keep extras, save func([]byte), onMeta func(listMeta),
	object func(*graph.Object)) error {
	add := func(it *jsonItem) error {
		o, err := it.object(keep)
		if err == nil {
			object(o)
		}
		return err
	}
	if save == nil {
		return readJSONList(r, onMeta, add)
	}
	return readJSONList(r, onMeta, func(raw *json.RawMessage) error {
		item, err := inProtobuf(*raw)
		if err != nil {
			return err
		}
		save(item)
		it := &jsonItem{}
		if err := json.Unmarshal(*raw, it); err != nil {
			return jsonError(err)
		}
		return add(it)
	})
}

// open sends the request. Neither resourceVersion nor resourceVersionMatch is set: the answer is at
// least as new as the request.
func (c *Client) open(ctx context.Context, p page) (io.ReadCloser, error) {
	req := c.rest.Get().AbsPath(p.path...).
		SetHeader("Accept", acceptList).
		WarningHandlerWithContext(quietWarnings{}).
		Param("limit", strconv.Itoa(cmp.Or(c.pageSize, c.pageSizes(ctx).newest)))
	p.restrict.param(req, p.continueToken)
	klog.FromContext(ctx).V(4).Info("Listing", "path", p.path, "continued", p.continueToken != "")
	return req.Stream(ctx)
}

// PageSaver keeps the pages of a listing as the server answered them. Its methods are called from
// several goroutines.
type PageSaver interface {
	// Page returns what takes the objects of a page: add is called with each of them, encoded as a
	// PartialObjectMetadata in protobuf, which is valid during the call; and end, if the page was read
	// whole.
	Page(t graph.Type, namespace string) (add func(item []byte), end func())
	// Discard takes back the pages of a list so far: the list begins again, or the type is not served
	// any more.
	Discard(t graph.Type, namespace string)
}

// saved is where a listing goes whose pages are saved: into nothing.
type saved struct {
	to        PageSaver
	t         graph.Type
	namespace string
}

// Add implements collector.
func (saved) Add(...graph.Object) {}

// Discard implements collector.
func (s saved) Discard() { s.to.Discard(s.t, s.namespace) }

// page begins a page; both functions do nothing where none is saved.
func (s saved) page() (add func([]byte), end func()) {
	if s.to == nil {
		return nil, func() {}
	}
	return s.to.Page(s.t, s.namespace)
}

// inProtobuf encodes the metadata of an object of a server that speaks JSON only.
func inProtobuf(raw []byte) ([]byte, error) {
	var o metav1.PartialObjectMetadata
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, jsonError(err)
	}
	o.TypeMeta = metav1.TypeMeta{}
	return o.Marshal()
}

const (
	// cachedPage is so large that a second page is rare: the server answers the first from its
	// cache, but the next ones only while it keeps a snapshot for them; of a type that has not
	// changed for some minutes they come from etcd, which takes several times as long. Nothing here
	// holds a page.
	cachedPage = 100_000
	// storedPage is for answers that come from etcd: the server reads and decodes a page of whole
	// objects before it sends the first of them. Ten of kubectl's pages in one, so that a round
	// trip is not what takes the time.
	storedPage = 5_000
	// versionPatience is how long the server may take to tell its version, which it does without
	// looking at anything.
	versionPatience = 5 * time.Second
)

// The first versions in which the server answers from its cache, if nobody has turned that off.
var (
	// consistentFromCache is the first with lists that are at least as new as the request
	// (ConsistentListFromCache, https://kep.k8s.io/2340). Their first page comes from the cache
	// also if it has a limit (https://github.com/kubernetes/kubernetes/pull/125405).
	consistentFromCache = version.MajorMinor(1, 31)
	// exactFromCache is the first with lists of an exact resourceVersion (ListFromCacheSnapshot,
	// https://kep.k8s.io/4988).
	exactFromCache = version.MajorMinor(1, 34)
)

// pageSizes are how many objects one answer to a list has at most.
type pageSizes struct {
	// newest is of a list that is at least as new as the request, exact of one that names a
	// resourceVersion.
	newest, exact int
}

// pageSizesOf returns those that a server of a version answers well; nil is one that does not tell.
// A page of a million objects that comes from etcd is held by the server as a whole, so what is not
// known is taken for old.
func pageSizesOf(server *version.Version) pageSizes {
	sizes := pageSizes{storedPage, storedPage}
	if server != nil && server.AtLeast(consistentFromCache) {
		sizes.newest = cachedPage
	}
	if server != nil && server.AtLeast(exactFromCache) {
		sizes.exact = cachedPage
	}
	return sizes
}

// pageSizes asks the server for its version, once.
func (c *Client) pageSizes(ctx context.Context) pageSizes {
	return c.pages.once(ctx, func() pageSizes {
		ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.versionWithin, versionPatience))
		defer cancel()
		server, err := c.serverVersion(ctx)
		sizes := pageSizesOf(server)
		log := klog.FromContext(ctx).V(1)
		switch {
		case err != nil:
			log.Info("The server does not tell its version, so lists are read in the pages of an old one", "limit", sizes.newest,
				"err", err)
		case sizes.newest < cachedPage:
			log.Info("This server answers lists from etcd, so they are read in small pages", "version", server, "limit",
				sizes.newest, "fromCacheSince", consistentFromCache)
		}
		return sizes
	})
}

// serverVersion returns the version that the server says it has.
func (c *Client) serverVersion(ctx context.Context) (*version.Version, error) {
	var answer struct{ GitVersion string }
	if err := getJSON(ctx, c.rest.Get().AbsPath("/version"), acceptJSON, &answer); err != nil {
		return nil, err
	}
	v, err := version.ParseGeneric(answer.GitVersion)
	if err != nil {
		return nil, fmt.Errorf("reading the server's version %s: %w", strconv.Quote(answer.GitVersion), err)
	}
	return v, nil
}
