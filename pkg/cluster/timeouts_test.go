package cluster

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// answering is a transport that answers as a function says.
type answering func(*http.Request) (*http.Response, error)

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

// never answers nothing.
var never = answering(func(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
})

// trickle answers at once, and then a byte after each pause; with an empty one after the last.
func trickle(pauses ...time.Duration) answering {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: &trickling{r.Context(), pauses}}, nil
	}
}

type trickling struct {
	ctx    context.Context
	pauses []time.Duration
}

func (t *trickling) Read(p []byte) (int, error) {
	if len(t.pauses) == 0 {
		return 0, io.EOF
	}
	select {
	case <-t.ctx.Done():
		return 0, t.ctx.Err()
	case <-time.After(t.pauses[0]):
		t.pauses = t.pauses[1:]
		return copy(p, "x"), nil
	}
}

func (t *trickling) Close() error { return nil }

// TestEveryRequestIsBoundedByTheSilenceOfTheServer, and not by how long an answer is: what goes on
// for hours is read to its end. With --request-timeout the http client bounds whole requests.
func TestEveryRequestIsBoundedByTheSilenceOfTheServer(t *testing.T) {
	const list, watch = "https://server/api/v1/pods?limit=1", "https://server/api/v1/pods?watch=true"
	hours := make([]time.Duration, 600)
	for i := range hours {
		hours[i] = time.Minute
	}
	for name, tt := range map[string]struct {
		url     string
		server  answering
		timeout time.Duration
		ends    time.Duration
		err     string
	}{
		"no answer": {list, never, 0, 75 * time.Second, "no answer to GET /api/v1/pods within 1m15s"},
		"half an answer": {list, trickle(time.Second, 24*time.Hour), 0, 76 * time.Second,
			"nothing more came of the answer"},
		"a long answer":                {list, trickle(hours...), 0, 10 * time.Hour, ""},
		"a bound of the user's":        {list, never, 10 * time.Second, 10 * time.Second, "deadline exceeded"},
		"a longer bound of the user's": {list, never, 5 * time.Minute, 5 * time.Minute, "deadline exceeded"},
		"a watch that is not answered": {watch, never, 0, 30 * time.Second, "no answer to GET /api/v1/pods within 30s"},
		"a watch with bookmarks":       {watch, trickle(hours...), 0, 10 * time.Hour, ""},
		"a watch that hears no more": {watch, trickle(time.Minute, 24*time.Hour), 0, 4 * time.Minute,
			"nothing more came of the answer"},
		"a watch, with a long --request": {watch, never, time.Hour, 30 * time.Second, "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				timeouts := newTimeouts(&rest.Config{Timeout: tt.timeout})
				client := http.Client{Transport: timeouts.wrap(tt.server), Timeout: tt.timeout}
				began := time.Now()
				response, err := client.Get(tt.url)
				if err == nil {
					_, err = io.Copy(io.Discard, response.Body)
					response.Body.Close()
				}
				if took := time.Since(began); took != tt.ends {
					t.Errorf("it ends after %s, want %s", took, tt.ends)
				}
				if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
					t.Errorf("got %v, want %q", err, tt.err)
				}
				if err != nil {
					reason, gap := reasonOf(t.Context(), err)
					if reason != v1alpha1.GapUnavailable && isSilent(err) || !gap {
						t.Errorf("it makes a gap: %t, %s", gap, reason)
					}
				}
			})
		})
	}
}

// TestWhatIsDoneBetweenTwoReadsIsNotTheServers: a reader that takes its time meets no bound.
func TestWhatIsDoneBetweenTwoReadsIsNotTheServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := http.Client{Transport: newTimeouts(&rest.Config{}).wrap(trickle(time.Second, time.Second))}
		response, err := client.Get("https://server/api/v1/pods")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		for range 2 {
			time.Sleep(time.Hour) // which is no time here
			if _, err := response.Body.Read(make([]byte, 1)); err != nil {
				t.Errorf("got %v", err)
			}
		}
	})
}

// TestTheBuildersRequestsAreBounded, too, which have no context.
func TestTheBuildersRequestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := &rest.Config{}
		_, bind := Bind(t.Context())
		bind(config)
		client := http.Client{Transport: config.WrapTransport(never)}
		_, err := client.Get("https://server/api/v1/namespaces/a/pods/b")
		var failed *url.Error
		if !errors.As(err, &failed) || !failed.Timeout() {
			t.Errorf("got %v", err)
		}
	})
}

// TestAServerThatAsksForHoursIsNotWaitedFor, with a bound of whole requests or without.
func TestAServerThatAsksForHoursIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // less than any wait for what it asks
	defer cancel()
	for _, timeout := range []time.Duration{0, time.Minute} {
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(listing("configmaps"), faultproxy.RetryAfter(3600))
		config := proxy.Config()
		config.Timeout = timeout
		client, err := New(config, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.ForEachMeta(ctx, configMapType, "default",
			func(*graph.Object) {}); !apierrors.IsTooManyRequests(err) {
			t.Errorf("got %v", err)
		}
	}
}

// TestOneLineSaysWhatIsWaitedFor, in time, now and then, and of all requests together.
func TestOneLineSaysWhatIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var said []string
		waits := NewPending(func(line string) { said = append(said, time.Since(began).String()+" "+line) })
		get := func(server answering, after, within time.Duration) {
			time.Sleep(after) // which is no time in a bubble of synctest
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://server/api/v1/pods?limit=500", nil)
			if err != nil {
				t.Error(err)
			}
			response, err := waits.Wrap(server).RoundTrip(r)
			if err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		}
		get(trickle(4*time.Second, 4*time.Second, 4*time.Second), 0, time.Hour) // of which nothing is said
		for range 3 {
			go get(never, 0, 40*time.Second)
		}
		get(never, 0, 41*time.Second)
		get(trickle(8*time.Second), 7*time.Second, time.Hour)
		want := []string{
			"17s waiting for the server to answer GET /api/v1/pods, for 5s so far",
			"47s waiting for the server to answer GET /api/v1/pods and 3 more requests, for 35s so far",
			"1m5s waiting for the server to answer GET /api/v1/pods, for 5s so far",
		}
		if strings.Join(said, "\n") != strings.Join(want, "\n") {
			t.Errorf("it says\n%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestAWatchThatIsNotAnsweredIsAGapAndListed: until the bound nothing is known of the type, and
// from then on what its lists show. Where an answered one falls silent, a list shows what it has
// missed.
func TestAWatchThatIsNotAnsweredIsAGapAndListed(t *testing.T) {
	t.Parallel()
	silent := func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	for name, fault := range map[string]faultproxy.Fault{"no answer": faultproxy.Hang(), "no event": silent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			ns := c.Namespace(t)
			c.Apply(t, configMaps(ns, 1))
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(faultproxy.Watches("/configmaps"), fault)
			client, err := New(proxy.Config(), 0)
			if err != nil {
				t.Fatal(err)
			}
			client = client.WithPollInterval(20 * time.Millisecond)
			client.timeouts.watch, client.timeouts.event = 50*time.Millisecond, time.Second
			shows := storeOn(t, client, ns)
			shows()
			c.Apply(t, configMaps(ns, 3))
			testcluster.Eventually(t, "the store shows what was made", func(context.Context) (bool, error) {
				got, listed := shows()
				return len(listed.Gaps) == 0 && len(got) >= 3, nil
			})
			watched := make(chan Change, 100)
			told := func(change Change) {
				select {
				case watched <- change:
				default:
				}
			}
			points := []ResumePoint{{Type: configMapType, Namespace: ns, ResourceVersion: "1"}}
			go func() { _ = client.Watch(t.Context(), points, told) }()
			for change := range watched {
				if len(change.Relisted) >= 3 {
					break
				}
			}
		})
	}
}

// TestATypeWhoseWatchWasNotAnsweredOnceIsWatchedAgain, and is not listed for the rest of a command.
func TestATypeWhoseWatchWasNotAnsweredOnceIsWatchedAgain(t *testing.T) {
	t.Parallel()
	var watches atomic.Int32
	client, ns, changes := silentOnce(t, func(r *http.Request) bool {
		is := faultproxy.Watches("/configmaps")(r)
		if is {
			watches.Add(1)
		}
		return is
	}, faultproxy.Times(1, faultproxy.Hang()))
	client.timeouts.watch = time.Second
	go func() {
		_ = client.Watch(t.Context(), []ResumePoint{{Type: configMapType, Namespace: ns, ResourceVersion: "1"}},
			changes.changed)
	}()
	changes.until(t, "it is listed", func(c Change) bool { return len(c.Relisted) == 1 })
	made := 1
	testcluster.Eventually(t, "a watch shows what was made", func(context.Context) (bool, error) {
		made++ // on a busy machine a list may show it first
		testcluster.Shared(t).Apply(t, configMaps(ns, made))
		return watches.Load() > 1 && changes.have(func(c Change) bool { return c.Object != nil }), nil
	})
}

// TestTheWatchOfAServerThatAnswersNothingEnds.
func TestTheWatchOfAServerThatAnswersNothingEnds(t *testing.T) {
	t.Parallel()
	client, ns, changes := silentOnce(t,
		func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/configmaps") }, faultproxy.Hang())
	client.timeouts.watch, client.timeouts.answer = 50*time.Millisecond, 50*time.Millisecond
	err := client.Watch(t.Context(), []ResumePoint{{Type: configMapType, Namespace: ns, ResourceVersion: "1"}},
		changes.changed)
	if !errors.As(err, new(*UnseenError)) || !isSilent(err) || strings.Contains(err.Error(), "the verb") {
		t.Errorf("%v", err)
	}
}

// silentOnce returns a client of a server that does not answer some requests, a namespace with a
// config map, and what is to be told of its changes.
func silentOnce(t *testing.T, of func(*http.Request) bool, fault faultproxy.Fault) (*Client, string, *heard) {
	t.Helper()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 1))
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(of, fault)
	client, err := New(proxy.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return client, ns, &heard{}
}

// TestAStoreDoesNotTakeAWatchThatHasNotBegunForOne: neither a first one, nor one that was open
// before, whoever has been woken to open it again.
func TestAStoreDoesNotTakeAWatchThatHasNotBegunForOne(t *testing.T) {
	for name, again := range map[string]bool{"the first": false, "again": true} {
		s, f := holding(t, 1)
		f.begun, f.wake = true, make(chan struct{}, 1)
		if again {
			s.seen(f, func() { f.connected = true })
			f.wake <- struct{}{}
			f.connected = false
			f.hurry()
		}
		if l := filled(t, s); len(l.Gaps) != 1 || l.Gaps[0].Reason != v1alpha1.GapUnavailable || len(l.ResumePoints) != 0 {
			t.Errorf("%s: %+v", name, l)
		}
		s.seen(f, func() { f.connected = true })
		if l := filled(t, s); len(l.Gaps) != 0 || len(l.ResumePoints) != 1 {
			t.Errorf("%s, when it is answered: %+v", name, l)
		}
	}
}

// TestAStoreThatHasEndedHoldsWhatItFollowed: its watches have ended with it, and were answered
// until then.
func TestAStoreThatHasEndedHoldsWhatItFollowed(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	client, err := New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := client.NewStore(ctx, ListOptions{Namespace: c.Namespace(t)}, func(Change) {})
	// Other tests define types on this server and delete them: such a type has no watch.
	ofOthers := func(group string) bool { return strings.HasSuffix(group, ".example.com") }
	list := func() []v1alpha1.Gap {
		catalog, err := client.Discover(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		listed, _, err := s.List(t.Context(), client, catalog, graph.NewBuilder(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(listed.Gaps, func(g v1alpha1.Gap) bool { return ofOthers(g.Group) })
	}
	list()
	s.Follow()
	testcluster.Eventually(t, "all watches are open", func(context.Context) (bool, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for at, f := range s.scopes {
			if f.asked = time.Now().Add(-time.Hour); !f.connected && !ofOthers(at.group) {
				return false, nil
			}
		}
		return true, nil
	})
	cancel()
	s.workers.Wait()
	if gaps := list(); len(gaps) > 0 {
		t.Errorf("%d gaps, such as %+v", len(gaps), gaps[0])
	}
	for _, f := range s.scopes { // as where the server had just ended the watch, which it does every now and then
		f.connected = false
	}
	if gaps := list(); len(gaps) > 0 {
		t.Errorf("%d gaps, such as %+v", len(gaps), gaps[0])
	}
}

func filled(t *testing.T, s *Store) *ListResult {
	t.Helper()
	b := graph.NewBuilder()
	l := newLister(s.client, &Catalog{}, s.opts, b)
	if _, err := s.fill(t.Context(), b, l, nil); err != nil {
		t.Fatal(err)
	}
	return l.sorted()
}
