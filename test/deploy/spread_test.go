package deploy

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// strictly reads a manifest of another project into what it may have.
func strictly(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(manifests, "fleet", file))
	if err == nil {
		err = yaml.UnmarshalStrict(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// TestWhatAManifestWorkSpreadsRuns: the server of a managed cluster takes its objects, and the
// CronJobs run as their ServiceAccount.
func TestWhatAManifestWorkSpreadsRuns(t *testing.T) {
	c := testcluster.Shared(t)
	var work struct { // open-cluster-management.io/api/work/v1, ManifestWork
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			Workload struct {
				Manifests []json.RawMessage `json:"manifests"`
			} `json:"workload"`
		} `json:"spec"`
	}
	strictly(t, "manifestwork.yaml", &work)
	if work.APIVersion != "work.open-cluster-management.io/v1" || work.Kind != "ManifestWork" || work.Namespace != "" {
		t.Errorf("%s %s in %q", work.APIVersion, work.Kind, work.Namespace)
	}
	var jobs []batchv1.CronJob
	for _, manifest := range work.Spec.Workload.Manifests {
		c.Apply(t, string(manifest))
		var job batchv1.CronJob
		if strings.Contains(string(manifest), `"kind":"CronJob"`) {
			if err := yaml.UnmarshalStrict(manifest, &job); err != nil {
				t.Fatal(err)
			}
			jobs = append(jobs, job)
		}
	}
	if len(jobs) != 2 {
		t.Errorf("%d CronJobs, want why and check", len(jobs))
	}
	for _, job := range jobs {
		runs(t, c, job)
	}
}

// TestAnApplicationSetSpreadsRead: for each cluster it makes an Application of a folder that is there,
// with the image that the folder has.
func TestAnApplicationSetSpreadsRead(t *testing.T) {
	t.Parallel()
	var set struct { // argo-cd/pkg/apis/application/v1alpha1, ApplicationSet
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			GoTemplate        bool     `json:"goTemplate"`
			GoTemplateOptions []string `json:"goTemplateOptions"`
			Generators        []struct {
				Clusters *struct {
					Selector metav1.LabelSelector `json:"selector"`
				} `json:"clusters"`
			} `json:"generators"`
			Template json.RawMessage `json:"template"`
		} `json:"spec"`
	}
	strictly(t, "applicationset.yaml", &set)
	if set.APIVersion != "argoproj.io/v1alpha1" || set.Kind != "ApplicationSet" || !set.Spec.GoTemplate ||
		len(set.Spec.Generators) != 1 || set.Spec.Generators[0].Clusters == nil {
		t.Fatalf("%+v", set)
	}
	made, err := template.New("").Option(set.Spec.GoTemplateOptions...).Parse(string(set.Spec.Template))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := made.Execute(&text, map[string]string{"name": "Prod_EU", "nameNormalized": "prod-eu",
		"server": "https://eu.example.com"}); err != nil {
		t.Fatal(err)
	}
	var application struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Spec struct {
			Project string `json:"project"`
			Source  struct {
				RepoURL        string `json:"repoURL"`
				TargetRevision string `json:"targetRevision"`
				Path           string `json:"path"`
				Kustomize      struct {
					Images []string `json:"images"`
				} `json:"kustomize"`
			} `json:"source"`
			Destination struct {
				Server    string `json:"server"`
				Namespace string `json:"namespace"`
			} `json:"destination"`
			SyncPolicy struct {
				Automated struct {
					SelfHeal bool `json:"selfHeal"`
				} `json:"automated"`
			} `json:"syncPolicy"`
		} `json:"spec"`
	}
	if err := yaml.UnmarshalStrict([]byte(text.String()), &application); err != nil {
		t.Fatal(err)
	}
	var folder struct {
		Namespace string `json:"namespace"`
		Images    []struct {
			Name    string `json:"name"`
			NewName string `json:"newName"`
			NewTag  string `json:"newTag"`
		} `json:"images"`
	}
	kustomization, err := os.ReadFile(filepath.Join("../..", application.Spec.Source.Path, "kustomization.yaml"))
	if err == nil {
		err = yaml.Unmarshal(kustomization, &folder)
	}
	if err != nil || len(folder.Images) != 1 {
		t.Fatalf("%v, %+v", err, folder)
	}
	source, image := application.Spec.Source, folder.Images[0]
	if want := image.Name + "=" + image.NewName + ":" + image.NewTag; len(source.Kustomize.Images) != 1 ||
		source.Kustomize.Images[0] != want || source.TargetRevision != image.NewTag {
		t.Errorf("the images %q at %s, want %s", source.Kustomize.Images, source.TargetRevision, want)
	}
	if to := application.Spec.Destination; application.Metadata.Name != "kubectl-gc-prod-eu" ||
		to.Server != "https://eu.example.com" || to.Namespace != folder.Namespace {
		t.Errorf("%+v", application)
	}
}

// TestTheInventoryIsAskedUnderItsRole: the server takes the CronJob, whose ServiceAccount may list
// ClusterProfiles, of which this server has none, and not ConfigMaps, for one; and the command reads
// the file of providers as it is.
func TestTheInventoryIsAskedUnderItsRole(t *testing.T) {
	c := testcluster.Shared(t)
	const folder = "fleet/profiles"
	c.Kubectl(t, "apply", "--server-side", "-k", filepath.Join(manifests, folder))
	jobs := rendered[batchv1.CronJob](t, c, folder, "CronJob")
	if len(jobs) != 1 {
		t.Fatalf("%d CronJobs, want one", len(jobs))
	}
	pod := jobs[0].Spec.JobTemplate.Spec.Template.Spec
	config := c.KubeconfigAs(t, "system:serviceaccount:kubectl-gc:"+pod.ServiceAccountName, "system:authenticated")
	rows := t.TempDir()
	var args []string
	for _, arg := range pod.Containers[0].Args {
		args = append(args, strings.NewReplacer("=/providers", "="+filepath.Join(manifests, folder), "/rows", rows).Replace(arg))
	}
	asked := func(more ...string) string {
		_, stdout, stderr := script.InProcess(t.Context(), "", append(more, "--kubeconfig", config)...)
		return stdout + stderr
	}
	testcluster.Eventually(t, "the account to be allowed to list", func(context.Context) (bool, error) {
		return strings.Contains(asked(args...), "NotFound"), nil
	})
	if said := asked("check", "configmaps", "-n", "kubectl-gc"); !strings.Contains(said, "forbidden") {
		t.Errorf("it may list more than ClusterProfiles: %s", said)
	}
}
