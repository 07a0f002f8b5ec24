package cluster

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/klog/v2"
)

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
		ctx, cancel := context.WithTimeout(ctx, versionPatience)
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
