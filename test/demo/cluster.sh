# Where the demo happens, for run and down: the caller's cluster if KUBECONFIG says so, or else a control plane of the
# demo's own. Sourced from the top of the repository.

namespace=gc-demo
part=kubectl-gc-demo # the label app.kubernetes.io/part-of of what the demo makes outside its namespace
crd=widgets.gc-demo.example.com
plane=$PWD/.demo/plane

PATH=$PWD/bin:$PATH
KUBERC=off # whatever the caller prefers kubectl to do otherwise
export PATH KUBERC

case "${KUBECONFIG:-}" in
"" | "$plane/kubeconfig")
    own=yes
    KUBECONFIG=$plane/kubeconfig
    # kubectl files what it knows of a server under its port, which another control plane had before.
    KUBECACHEDIR=$PWD/.demo/cache
    export KUBECONFIG KUBECACHEDIR
    ;;
*) own= ;;
esac
