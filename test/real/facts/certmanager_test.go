package facts

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/real/record"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

//go:embed testdata/certmanager.yaml
var selfSigned string

// workload is the Deployment in which cert-manager would run: why looks for it.
//
//go:embed testdata/workload.yaml
var workload string

// acme has the URL of the ACME server and the domain, http or dns, which says how it is solved.
//
//go:embed testdata/acme.yaml
var acme string

var (
	certificates = schema.GroupVersionResource{Group: "cert-manager.io", Version: "v1", Resource: "certificates"}
	challenges   = schema.GroupVersionResource{Group: "acme.cert-manager.io", Version: "v1", Resource: "challenges"}
	secrets      = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	services     = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	pods         = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// certManager is a namespace with a Certificate of cert-manager, web.
type certManager struct {
	*testcluster.Cluster
	namespace string
}

// TestCertManager tests what cert-manager does with a Certificate, and with what it makes for it.
// No challenge of the ACME server can be answered, so that Orders and Challenges stay.
func TestCertManager(t *testing.T) {
	c := testcluster.Start(t, testcluster.Controllers(controllers...))
	c.Apply(t, workload)
	c.Kubectl(t, "patch", "deployment", "cert-manager", "-n", "cert-manager", "--subresource=status", "--type=merge", "-p",
		`{"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1}}`)
	program := beside.StartCertManager(t, c)
	learnTypes(t, c)
	server := beside.StartPebble(t)
	t.Run("SecretComesBack", func(t *testing.T) { secretComesBack(t, newSelfSigned(t, c)) })
	t.Run("SecretStays", func(t *testing.T) { secretOfACertificate(t, newSelfSigned(t, c), false) })
	t.Run("AccountComesBack", func(t *testing.T) {
		makesAgain(t, c, newACME(t, c, server, "http").namespace, secrets, "acme-account", "cert-manager", "Issuer")
	})
	t.Run("ChallengeComesBack", func(t *testing.T) { challengeComesBack(t, newACME(t, c, server, "http")) })
	t.Run("ChallengeWithoutItsIssuer", func(t *testing.T) {
		challengeWithoutItsIssuer(t, newACME(t, c, server, "http"))
		challengeWithoutItsIssuer(t, newACME(t, c, server, "dns"))
	})
	t.Run("Namespace", func(t *testing.T) {
		m := newACME(t, c, server, "http")
		m.goes(t, "namespace/"+m.namespace)
	})
	t.Run("ChallengeWithoutCredentials", func(t *testing.T) {
		challengeWithoutCredentials(t, newACME(t, c, server, "dns"))
	})
	program.Kill()
	beside.StartCertManager(t, c, "--enable-certificate-owner-ref")
	t.Run("SecretGoes", func(t *testing.T) { secretOfACertificate(t, newSelfSigned(t, c), true) })
}

// newSelfSigned has a Certificate that is issued.
func newSelfSigned(t *testing.T, c *testcluster.Cluster) certManager {
	t.Helper()
	m := certManager{c, c.Namespace(t)}
	c.Apply(t, selfSigned, "-n", m.namespace)
	m.issued(t)
	return m
}

// issued waits until the Certificate is, and the Secret of its next key is gone.
func (m certManager) issued(t *testing.T) {
	t.Helper()
	read(t, m.Cluster, certificates, m.namespace).until("web", "is issued", func(o *unstructured.Unstructured) bool {
		return condition(o, "Ready") && !condition(o, "Issuing")
	})
	testcluster.Eventually(t, "no next key is left", func(context.Context) (bool, error) {
		return len(read(t, m.Cluster, secrets, m.namespace).list("cert-manager.io/next-private-key=true")) == 0, nil
	})
}

// newACME has a Certificate with an Order and a Challenge, which stay.
func newACME(t *testing.T, c *testcluster.Cluster, server, domain string) certManager {
	t.Helper()
	m := certManager{c, c.Namespace(t)}
	c.Apply(t, fmt.Sprintf(acme, server, domain), "-n", m.namespace)
	m.challenge(t, "")
	return m
}

// challenge waits for a Challenge that is another than one of before, and begun.
func (m certManager) challenge(t *testing.T, before types.UID) unstructured.Unstructured {
	t.Helper()
	var found unstructured.Unstructured
	testcluster.Eventually(t, "a Challenge is begun", func(context.Context) (bool, error) {
		all := read(t, m.Cluster, challenges, m.namespace).list("")
		if len(all) != 1 || all[0].GetUID() == before {
			return false, nil
		}
		found = all[0]
		presented, _, _ := unstructured.NestedBool(found.Object, "status", "presented")
		reason, _, _ := unstructured.NestedString(found.Object, "status", "reason")
		return presented || reason != "", nil
	})
	return found
}

// recreated gives what a plan says comes back: its kind, and the kind and the program of its owner.
func (m certManager) recreated(t *testing.T, object string) []string {
	t.Helper()
	var all []string
	for _, r := range planOf(t, m.Cluster, object, "-n", m.namespace).Recreated {
		all = append(all, strings.TrimSpace(r.Object.Kind+" of "+r.Owner.Kind+" by "+r.Program))
	}
	return all
}

// goes deletes objects and fails if others go than the plan says. What is made meanwhile does not
// count.
func (m certManager) goes(t *testing.T, objects ...string) {
	t.Helper()
	args := append(slices.Clone(objects), "-n", m.namespace)
	going := planned(t, m.Cluster, args...)
	r := record.Start(t, m.Config())
	m.Kubectl(t, append(append([]string{"delete"}, args...), "--wait=false")...)
	h := r.Until(t, "all of the plan is gone", func(h record.History) bool { return gone(h, going...) })
	made := h.Kinds(record.Created)
	var left []types.UID
	for _, uid := range went(slices.DeleteFunc(slices.Clone(h), func(e record.Event) bool {
		return e.Namespace != m.namespace && !(e.Resource == "namespaces" && e.Name == m.namespace)
	})) {
		if len(made.About(uid)) == 0 {
			left = append(left, uid)
		}
	}
	if !slices.Equal(going, left) {
		t.Errorf("the plan of %q deletes %v, and %v are gone", objects, going, left)
	}
}

// secretComesBack: the Secret of a Certificate that is deleted alone is made again, and the plan
// says so. Without its Issuer it is not.
func secretComesBack(t *testing.T, m certManager) {
	if got, want := m.recreated(t, "secret/web-tls"), []string{"Secret of Certificate by cert-manager"}; !slices.Equal(got,
		want) {
		t.Errorf("the plan says that these come back: %q, want %q", got, want)
	}
	before := read(t, m.Cluster, secrets, m.namespace).get("web-tls").GetUID()
	m.Kubectl(t, "delete", "secret", "web-tls", "-n", m.namespace, "--wait=false")
	read(t, m.Cluster, secrets, m.namespace).madeAgain("web-tls", before)
	m.issued(t)

	m.Kubectl(t, "delete", "issuers.cert-manager.io/self", "-n", m.namespace)
	if got := m.recreated(t, "secret/web-tls"); len(got) > 0 {
		t.Errorf("without the Issuer the plan says that these come back: %q", got)
	}
	m.Kubectl(t, "delete", "secret", "web-tls", "-n", m.namespace, "--wait=false")
	requests := schema.GroupVersionResource{Group: "cert-manager.io", Version: "v1", Resource: "certificaterequests"}
	testcluster.Eventually(t, "a request waits for the Issuer", func(context.Context) (bool, error) {
		all := read(t, m.Cluster, requests, m.namespace).list("")
		return slices.ContainsFunc(all, func(o unstructured.Unstructured) bool {
			return conditionOf(&o, "Ready")["reason"] == "Pending"
		}), nil
	})
	if strings.Contains(m.Kubectl(t, "get", "secrets", "-n", m.namespace, "-o", "name"), "/web-tls") {
		t.Error("the Secret came back without the Issuer")
	}
}

// secretOfACertificate: with a Certificate its CertificateRequest goes, by owner reference. Its
// Secret goes only with the flag of cert-manager that has it owned. The plan knows both.
func secretOfACertificate(t *testing.T, m certManager, goes bool) {
	m.goes(t, "certificate/web")
	left := strings.Contains(m.Kubectl(t, "get", "secrets", "-n", m.namespace, "-o", "name"), "/web-tls")
	if left == goes {
		t.Errorf("the Secret is left: %t", left)
	}
}

// challengeComesBack: with a Challenge go the pod, the Service and the Ingress that solve it, which
// it owns. Its Order makes another, with others. The plan says so: this Order has not ended.
func challengeComesBack(t *testing.T, m certManager) {
	challenge := m.challenge(t, "")
	want := []string{"Challenge of Order by cert-manager"}
	if got := m.recreated(t, "challenge/"+challenge.GetName()); !slices.Equal(got, want) {
		t.Errorf("the plan says that these come back: %q, want %q", got, want)
	}
	solvers := slices.Concat(uids(read(t, m.Cluster, pods, m.namespace).list("")),
		uids(read(t, m.Cluster, services, m.namespace).list("")))
	if going := planned(t, m.Cluster, "challenge/"+challenge.GetName(), "-n", m.namespace); len(solvers) != 2 ||
		!slices.Contains(going, solvers[0]) || !slices.Contains(going, solvers[1]) {
		t.Errorf("the plan of the Challenge deletes %v, and the pod and the Service are %v", going, solvers)
	}
	m.goes(t, "challenge/"+challenge.GetName())
	m.challenge(t, challenge.GetUID())
}

// challengeWithoutItsIssuer: cert-manager cleans up a Challenge without its Issuer, however it is
// solved. The plan of both says so.
func challengeWithoutItsIssuer(t *testing.T, m certManager) {
	m.goes(t, "issuer/acme", "certificate/web")
}

// challengeWithoutCredentials: a Challenge that is solved by DNS waits for the Secret with the
// credentials. why names that, with what cert-manager says of it.
func challengeWithoutCredentials(t *testing.T, m certManager) {
	challenge := m.challenge(t, "")
	name := challenge.GetName()
	m.Kubectl(t, "delete", "secret", "acmedns", "-n", m.namespace)
	m.Kubectl(t, "delete", "certificate", "web", "-n", m.namespace, "--wait=false")
	// What has failed is tried again only seconds later, unless the Challenge changes.
	again := func(n string) {
		m.Kubectl(t, "patch", "challenge", name, "-n", m.namespace, "--type=merge", "-p",
			`{"metadata":{"annotations":{"again":"`+n+`"}}}`)
	}
	says := func(text string) string {
		read(t, m.Cluster, challenges, m.namespace).until(name, "says: "+text, func(o *unstructured.Unstructured) bool {
			reason, _, _ := unstructured.NestedString(o.Object, "status", "reason")
			return strings.Contains(reason, text)
		})
		return plugin.Run(t, m.Cluster, "why", "challenge/"+name, "-n", m.namespace).Stdout
	}
	const missing = `error getting acmedns accounts secret: secrets "acmedns" not found`
	out := says(missing)
	if !strings.Contains(out, " waits for secret/acmedns in ") || !strings.Contains(out, missing) ||
		!strings.Contains(out, "Create Secret "+m.namespace+"/acmedns again") {
		t.Errorf("why says\n%s", out)
	}
	m.Kubectl(t, "create", "secret", "generic", "acmedns", "-n", m.namespace)
	again("once")
	const incomplete = "key 'accounts.json' not found in secret"
	if out := says(incomplete); !strings.Contains(out, incomplete) || strings.Contains(out, "DependencyMissing") {
		t.Errorf("of a Secret without the key why says\n%s", out)
	}
	m.Kubectl(t, "patch", "secret", "acmedns", "-n", m.namespace, "--type=merge", "-p", `{"stringData":{"accounts.json":"{}"}}`)
	again("twice")
	read(t, m.Cluster, challenges, m.namespace).gone(name)
}
