package plane

import (
	"context"
	"os"
)

// etcd listens on sockets in its working directory, the state, and on no port. Their names are
// relative because a socket's path may have no more than about a hundred bytes, and look like
// host:port because etcd's flags want that of what it advertises.
const (
	etcdClients = "etcd:0"
	etcdPeers   = "etcd-peers:0"
)

// startEtcd starts etcd and waits until it takes connections.
func (s *supervision) startEtcd(ctx context.Context) error {
	p, err := s.start(etcd,
		"etcd",
		"--data-dir=etcd-data",
		"--listen-client-urls=unix://"+etcdClients,
		"--advertise-client-urls=unix://"+etcdClients,
		"--listen-peer-urls=unix://"+etcdPeers,
		"--initial-advertise-peer-urls=unix://"+etcdPeers,
		"--initial-cluster=default=unix://"+etcdPeers,
		// Nothing here has to outlive a crash of the machine.
		"--unsafe-no-fsync",
		"--quota-backend-bytes=8589934592",
		"--log-level=error",
	)
	if err != nil {
		return err
	}
	return s.home.await(ctx, etcd, p, func(context.Context) error {
		_, err := os.Stat(s.home.state(etcdClients))
		return err
	})
}

// removeData removes what etcd stored; it is the only thing that can be large.
func (h home) removeData() error { return os.RemoveAll(h.state("etcd-data")) }
